// What `up` promises about a stack, looked at from outside.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { watchedDatabase } from '../../../harness/records/profile.ts';
import { stackDir } from '../../../harness/stack/names.ts';
import { loadProfile } from '../../../harness/stack/state.ts';
import { command } from '../../support/command.ts';

const stack = process.env.HOPDRILL_STACK ?? '';

interface Inspected {
  Name: string;
  HostConfig: {
    Privileged: boolean;
    PortBindings: Record<string, { HostIp: string }[]>;
    CapAdd: string[] | null;
    CapDrop: string[] | null;
  };
  NetworkSettings: { Networks: Record<string, { IPAddress: string }> };
  Config: { Labels: Record<string, string> };
}

async function inspectAll(): Promise<Inspected[]> {
  const ids = (
    await execa('docker', ['ps', '-aq', '--filter', `label=dev.hopdrill.stack=${stack}`])
  ).stdout.split('\n');
  return JSON.parse(
    (await execa('docker', ['container', 'inspect', ...ids])).stdout,
  ) as Inspected[];
}

test('state lies in a folder that only its owner reads', () => {
  const dir = stackDir(stack);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(dir))
    expect((statSync(join(dir, name)).mode & 0o077).toString(8), name).toBe('0');
});

test('every file that the profile names is there', () => {
  const profile = loadProfile(stack);
  const { ssh } = profile.nodes['node-1']!;
  const named = [
    ...Object.values(profile.credentials),
    ssh?.knownHostsFile,
    ssh?.keyFile,
    profile.connect.caFile,
  ];
  for (const file of [...named, watchedDatabase(profile)?.passwordFile]) {
    expect(readFileSync(String(file), 'utf8').trim(), file).not.toBe('');
  }
  expect(Object.keys(profile.policies)).toContain('node.heartbeat_stale_after_seconds');
});

test('ports are published on loopback only, nothing is privileged, and parts keep few capabilities', async () => {
  for (const { Name, HostConfig } of await inspectAll()) {
    expect(HostConfig.Privileged, Name).toBe(false);
    const bindings = Object.values(HostConfig.PortBindings).flat();
    expect(
      bindings.filter((binding) => binding.HostIp !== '127.0.0.1'),
      Name,
    ).toEqual([]);
    if (!/-node-\d-/.test(Name)) expect(HostConfig.CapDrop, Name).toEqual(['ALL']);
  }
});

test('addresses are those of the contract', async () => {
  const last = (one: Inspected, network: string) =>
    Number(one.NetworkSettings.Networks[`hopdrill-${stack}_${network}`]?.IPAddress.split('.')[3]);
  const found = new Map(
    (await inspectAll()).map((one) => [one.Config.Labels['com.docker.compose.service'], one]),
  );
  const core = {
    db: 10,
    redis: 11,
    api: 12,
    ingress: 13,
    gateway: 14,
    edge: 15,
    provider: 16,
    links: 20,
  };
  for (const [service, host] of Object.entries(core))
    expect(last(found.get(service)!, 'core'), service).toBe(host);
  expect([
    last(found.get('node-1')!, 'field'),
    last(found.get('node-2')!, 'field'),
    last(found.get('dns')!, 'field'),
  ]).toEqual([31, 32, 53]);
});

test('nothing on the inner networks reaches out', async () => {
  const networks = ['core', 'field', 'front'].map((name) => `hopdrill-${stack}_${name}`);
  const found = JSON.parse((await execa('docker', ['network', 'inspect', ...networks])).stdout) as {
    Internal: boolean;
    Options: Record<string, string>;
  }[];
  expect(found.map((network) => network.Internal)).toEqual([true, true, false]);
  expect(found[2]?.Options['com.docker.network.bridge.enable_ip_masquerade']).toBe('false');
});

test('status knows it, and a second up only says that it is there', async () => {
  const { stdout } = await command('status', '--json');
  const { stacks } = JSON.parse(stdout) as { stacks: { stack: string; phase: string }[] };
  expect(stacks.find((one) => one.stack === stack)?.phase).toBe('up');
  const browser = loadProfile(stack).endpoints.browser ? ['--browser'] : [];
  const again = await command('up', '--stack', stack, '--json', ...browser);
  expect(again.exitCode, again.all).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ stack, alreadyUp: true });
});

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { root, select } from '../../../harness/cli/select.ts';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import type { Events, RunEvent, StageName } from '../../../harness/records/events.ts';
import type { Profile } from '../../../harness/records/profile.ts';
import type { RunRecord } from '../../../harness/records/run-record.ts';
import type { Scenario, ScenarioFile } from '../../../harness/records/scenario.ts';
import { runOn } from '../../../harness/run.ts';
import type { RunOptions } from '../../../harness/run-tools/tools.ts';
import { loadProfile } from '../../../harness/stack/state.ts';
import { defaultStateDir, ledgerDir } from '../../../harness/undo/paths.ts';

/** Beside the usual runs and not among them: reports read what lies directly in `reports/out`. */
export const out = join(root, 'reports/out/proof');

export function stackOfSuite(): string {
  const stack = process.env.HOPDRILL_STACK;
  if (stack === undefined || stack === '')
    throw new Error('HOPDRILL_STACK names no stack; bring one up with `hopdrill up --stack NAME`');
  return stack;
}

let known: Profile | undefined;
export const profileOfSuite = (): Profile => (known ??= loadProfile(stackOfSuite()));

export const load = (...patterns: string[]): Promise<Scenario[]> => select({ patterns });

export async function one(pattern: string): Promise<Scenario> {
  const [scenario, ...more] = await load(pattern);
  if (scenario === undefined || more.length > 0) throw new Error(`${pattern} is not one scenario`);
  return scenario;
}

/**
 * Changes the loaded record, after validation; positions stay, so that a reason still points at its
 * line.
 */
export function changed(scenario: Scenario, change: Partial<ScenarioFile>): Scenario {
  return { ...scenario, record: { ...scenario.record, ...change } };
}

export function drill(
  scenario: Scenario,
  options: RunOptions = {},
  events?: Events,
): Promise<RunRecord> {
  return runOn(scenario, {
    profile: profileOfSuite(),
    options: { out, ...options },
    ...(events && { events }),
  });
}

/**
 * Does something by hand at the very moment when a stage begins; synchronous, so that the run waits
 * for it.
 */
export function when(stage: StageName, status: 'start' | 'done', act: () => void): Events {
  let acted = false;
  return (event: RunEvent) => {
    if (acted || event.event !== 'stage' || event.stage !== stage || event.status !== status)
      return;
    acted = true;
    act();
  };
}

export function container(name: string): string {
  const profile = profileOfSuite();
  const lifeline = profile.nodes[name]?.lifeline;
  const found = lifeline?.kind === 'docker' ? lifeline.container : profile.parts[name]?.container;
  if (found === undefined) throw new Error(`the profile has no ${name}`);
  return found;
}

/** A line of shell as root inside a container, as somebody with `docker exec` would type it. */
export function byHand(name: string, line: string, user = '0'): string {
  return execaSync('docker', ['exec', '-u', user, container(name), 'sh', '-c', line], {
    timeout: 30_000,
    stdin: 'ignore',
  }).stdout;
}

export const docker = (...argv: string[]): string =>
  execaSync('docker', argv, { timeout: 60_000, stdin: 'ignore' }).stdout;

/** `hopdrill` as a person runs it. */
export const hopdrill = (argv: readonly string[], env: Record<string, string> = {}) =>
  execa('node', ['harness/cli/main.ts', ...argv], {
    cwd: root,
    reject: false,
    stdin: 'ignore',
    env: { NO_COLOR: '1', ...env },
    timeout: 240_000,
  });

/**
 * Nothing of any run is left on the targets of this stack: no rule, no folder, no file, no unit, no
 * toxic.
 */
export async function leftOnTargets(): Promise<string[]> {
  const script = `iptables-save | grep -o 'hopdrill:[A-Za-z0-9:_-]*'; ls -d /var/lib/hopdrill/* /etc/profile.d/hopdrill-* /usr/local/bin/hopdrill-* /etc/systemd/system/hopdrill-* 2>/dev/null; true`;
  const profile = profileOfSuite();
  const found = Object.keys(profile.nodes).flatMap((node) =>
    byHand(node, script)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `${node}: ${line}`),
  );
  for (const part of Object.keys(profile.parts)) found.push(...notesIn(part));
  if (profile.links !== undefined) {
    const answer = await fetch(`${profile.links.toxiproxy}/proxies`);
    const proxies = (await answer.json()) as Record<
      string,
      { enabled: boolean; toxics: { name: string }[] }
    >;
    for (const [name, proxy] of Object.entries(proxies)) {
      if (!proxy.enabled) found.push(`links: ${name} is disabled`);
      found.push(
        ...proxy.toxics
          .filter((toxic) => toxic.name.startsWith('hopdrill-'))
          .map((toxic) => `links: ${toxic.name} on ${name}`),
      );
    }
  }
  return found;
}

/** A part that a test has paused or renamed cannot be looked into, and that is told as well. */
function notesIn(part: string): string[] {
  try {
    const notes = byHand(part, 'ls /var/lib/hopdrill 2>/dev/null; true').split('\n');
    return notes.filter((line) => line !== '').map((line) => `${part}: note of ${line}`);
  } catch (error) {
    return [`${part}: cannot be looked into (${(error as Error).message.split('\n')[1]})`];
  }
}

/**
 * The ledger of a dirty run stays open for as long as its owner lives, and that is this process:
 * `hopdrill stop` of a later test would ask it to end.
 */
export const forgetLedger = async (run: string): Promise<void> =>
  rmSync(ledgerDir(defaultStateDir(), await engineId(), run), { recursive: true, force: true });

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
export const say = (text: string): void => void process.stdout.write(`      ${text}\n`);

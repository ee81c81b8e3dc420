import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { conflictOf } from '../../../harness/faults/conflicts.ts';
import { faultNamed, targetOf } from '../../../harness/faults/plan-fault.ts';
import type { Action } from '../../../harness/records/action.ts';
import { faultPlan } from '../../../harness/records/fault.ts';
import { profile as profileSchema } from '../../../harness/records/profile.ts';
import { pathPattern } from '../../../harness/systems/gpuaas/faults/http-refuse.ts';
import { fillPlan } from '../../../harness/undo/resolve.ts';
import { faultCases, titleOf } from '../support/fault-cases.ts';
import { faults, planned } from '../support/faults.ts';

const node = (name: string) => ({
  ssh: { host: '127.0.0.1', port: 22, user: 'u', knownHostsFile: 'k', keyFile: 'i' },
  lifeline: { kind: 'docker', container: name },
  agent: { unit: 'agent.service', user: 'agent' },
  own: { allocation: 'a', allocationUser: `user-${name}` },
});
const profile = profileSchema.parse({
  ...{
    version: 2,
    system: 'gpuaas',
    stack: 's',
    disposable: true,
    environment: 'fast',
    nodes: { 'node-1': node('n1'), 'node-2': node('n2') },
  },
  endpoints: { api: 'https://api.test', terminal: 'https://terminal.test' },
});

describe('the list', () => {
  /** What faults share is kept beside them. */
  const shared =
    'agent carriers conflicts define felt-by-agent index kit marks nginx plan-fault rules'
      .split(' ')
      .map((name) => `${name}.ts`);

  test('holds every file of the two folders, once, under the name of its file', () => {
    const files = ['faults', 'systems/gpuaas/faults'].flatMap((folder) =>
      readdirSync(new URL(`../../../harness/${folder}/`, import.meta.url)),
    );
    expect(faults.map((fault) => `${fault.name.replace('.', '-')}.ts`).sort()).toEqual(
      files.filter((file) => !shared.includes(file)).sort(),
    );
    expect(new Set(faults.map((fault) => fault.name)).size).toBe(faults.length);
  });

  test.each([
    ['service.stop', 'process.kill', 'no process to kill'],
    ['process.kill', 'service.stop', 'no process to kill'],
    ['pty.delay', 'disk.fill', 'cannot write on a full disk'],
  ])('%s beside %s is refused', (one, other, why) => {
    const byName = Object.fromEntries(faults.map((fault) => [fault.name, fault]));
    expect(conflictOf(byName, { name: one, params: {} }, { name: other, params: {} })).toContain(
      why,
    );
  });

  test.each(faults.map((fault) => [fault.name, fault] as const))(
    '%s says what its parameters mean, and refuses unknown ones',
    (_, fault) => {
      for (const [name, field] of Object.entries(fault.params.shape))
        expect((field as { description?: string }).description, name).toBeTruthy();
      expect(Object.keys(fault.params.shape)).toContain(fault.targetParam);
      const known = faultCases.find((row) => row.fault === fault.name)!.params;
      expect(() => fault.plan({ ...known, no_such_parameter: 1 }, 'node-1', profile)).toThrow(
        'no_such_parameter',
      );
      expect(fault.title.length * fault.why.length).toBeGreaterThan(0);
    },
  );

  test('`node` stands for the node of the scenario', () => {
    expect(targetOf(faultNamed(faults, 'service.stop')!, {}, 'node-2')).toBe('node-2');
    expect(targetOf(faultNamed(faults, 'link.cut')!, { link: 'node.term' }, 'node-2')).toBe(
      'node-2.term',
    );
    expect(targetOf(faultNamed(faults, 'link.cut')!, { link: 'gateway.redis' }, 'node-2')).toBe(
      'gateway.redis',
    );
    expect(() => planned('no.fault', {}, profile)).toThrow('no fault is called');
  });
});

const actionsOf = (plan: ReturnType<typeof planned>): Action[] => [
  ...plan.snapshot.map((one) => one.do),
  ...plan.inject,
  ...plan.undo,
  plan.active,
  plan.digest,
];

describe.each(faultCases.map((row) => [titleOf(row), row] as const))('%s', (_, row) => {
  const plan = planned(row.fault, row.params, profile);

  test('is pure data: the same twice, and the same after JSON', () => {
    expect(planned(row.fault, row.params, profile)).toEqual(plan);
    expect(faultPlan.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  test('fills every placeholder from its own snapshots', () => {
    const snapshots = Object.fromEntries(plan.snapshot.map(({ name }) => [name, `<${name}>`]));
    const filled = fillPlan(plan, { run: 'run-1', step: 0, snapshots });
    expect(JSON.stringify([filled.inject, filled.undo, filled.active, filled.digest])).not.toMatch(
      /\{(run|step|snapshot:)/,
    );
  });

  test('has scripts that sh understands, each with a first line for people', () => {
    for (const action of actionsOf(plan)) {
      if (!('argv' in action) || action.argv?.[0] !== 'sh') continue;
      const script = action.argv[2]!;
      expect(script.split('\n')[0]).toMatch(/^# \w/);
      expect(spawnSync('sh', ['-n', '-c', script]).stderr.toString(), script).toBe('');
    }
  });

  test('says what it cuts when it cuts a way in', () => {
    if (row.fault === 'ssh.refuse') expect(plan.cuts).toEqual(['ssh:node-1']);
    expect(plan.undo.length).toBeGreaterThan(0);
  });
});

test.each([
  ['/a/*/b', '/a/x/b', true],
  ['/a/*/b', '/a/x/y/b', false],
  ['/a.b', '/aXb', false],
  ['/a', '/a/b', false],
])('path %s and %s', (path, uri, fits) => {
  expect(new RegExp(pathPattern(path)).test(uri)).toBe(fits);
});

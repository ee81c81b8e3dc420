import { describe, expect, test } from 'vitest';
import { readProfile } from '../../../harness/cli/read-profile.ts';
import { select } from '../../../harness/cli/select.ts';
import { planScenario } from '../../../harness/plan/plan-scenario.ts';
import type { RunPlan } from '../../../harness/records/plan.ts';
import type { Profile } from '../../../harness/records/profile.ts';
import type { Scenario } from '../../../harness/records/scenario.ts';
import { loadSystem } from '../../../harness/systems/index.ts';

/** The one that the documentation offers for a platform that hopdrill did not start. */
const profile = await readProfile(
  new URL('../../../docs/your-own-platform/profile.yaml', import.meta.url).pathname,
);

async function one(pattern: string): Promise<Scenario> {
  const [scenario] = await select({ patterns: [pattern] });
  if (scenario === undefined) throw new Error(`no ${pattern}`);
  return scenario;
}
const planned = async (scenario: Scenario, on: Profile, deadman = true): Promise<RunPlan> =>
  planScenario(scenario, on, await loadSystem(on.system), deadman).run;

test('parts and links are not broken without a watchdog, unless that is asked for', async () => {
  const { watchdog: _, ...bare } = profile;
  const route = await one('terminal/public-route-missing');
  expect((await planned(route, profile)).refusals).toEqual([]);
  const [refusal, ...more] = (await planned(route, bare)).refusals;
  expect(more).toEqual([]);
  expect(refusal).toMatch(/no watchdog.*part:edge.*"watchdog: here".*--no-deadman/);
  expect((await planned(route, bare, false)).refusals).toEqual([]);
  expect(
    (await planned(await one('node-agent/service-stopped'), bare)).refusals,
    'a node has its dead-man',
  ).toEqual([]);
});

test('a hop that is asked on purpose only is asked when the scenario expects it, and refused where it cannot be', async () => {
  const plain = await one('terminal/redis-unavailable');
  const stuck: Scenario = {
    ...plain,
    record: { ...plain.record, expect: { ...plain.record.expect, hop: 'browser_terminal_page' } },
  };
  const open = { ...profile.endpoints, console: 'https://console.test' };
  const seen = {
    ...profile,
    endpoints: { ...open, browser: 'http://127.0.0.1:9222' },
    parts: { redis: { container: 'r' } },
  };
  const argv = (await planned(stuck, seen)).preflight_argv;
  expect(argv.slice(-4)).toEqual([
    '--browser',
    'http://127.0.0.1:9222',
    '--console-base',
    'https://console.test',
  ]);
  expect((await planned(plain, seen)).preflight_argv).toEqual(argv.slice(0, -4));
  const blind = { ...seen, endpoints: open };
  expect((await planned(stuck, blind)).refusals).toEqual([
    'the scenario expects browser_terminal_page, which cannot be asked with this profile: it needs the endpoints browser and console',
  ]);
});

test('a part that the profile does not name is refused, whoever would put it back', async () => {
  const stop = await one('terminal/public-route-missing');
  for (const deadman of [true, false])
    expect((await planned(stop, { ...profile, parts: {} }, deadman)).refusals.join()).toContain(
      'the profile has no part edge',
    );
});

describe('a fault that cuts the only way back is refused, with the reason', () => {
  const faultsOf = async (pattern: string, ...faults: object[]): Promise<Scenario> => {
    const scenario = await one(pattern);
    return { ...scenario, record: { ...scenario.record, faults } as Scenario['record'] };
  };
  const containers = { links: { container: 'l' }, redis: { container: 'r' } };
  const links = { toxiproxy: 'http://127.0.0.1:8474', part: 'links' };
  test('toxiproxy itself is stopped, beside a toxic', async () => {
    const cut = await faultsOf(
      'terminal/redis-unavailable',
      { 'container.stop': { part: 'links' } },
      { 'link.cut': { link: 'gateway.redis' } },
    );
    const { refusals } = await planned(cut, { ...profile, parts: containers, links });
    expect(refusals).toEqual([
      'part:links is the only way by which the watchdog takes link.cut on link:gateway.redis back, and a fault cuts it',
    ]);
  });
  test('the lifeline of a node is the SSH that is refused', async () => {
    const refused = await one('node-agent/ops-ssh-refused');
    const [name = '', node] = Object.entries(profile.nodes)[0] ?? [];
    if (node?.ssh === undefined) throw new Error('the node of this profile has SSH');
    const on = (port: number): Profile => ({
      ...profile,
      nodes: { [name]: { ...node, lifeline: { kind: 'ssh', host: node.ssh?.host ?? '', port } } },
    });
    expect((await planned(refused, on(node.ssh.port))).refusals.join()).toMatch(
      /is the only lifeline of node:.*, and a fault cuts it/,
    );
    expect((await planned(refused, on(node.ssh.port + 1))).refusals).toEqual([]);
  });
});

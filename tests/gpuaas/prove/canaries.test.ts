// Scenarios that are wrong on purpose: each ends with its own verdict, and none of them may pass.
import { afterEach, describe, expect, test } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import type { Events } from '../../../harness/records/events.ts';
import type { RunRecord } from '../../../harness/records/run-record.ts';
import { findFiles } from '../../../harness/scenarios/load.ts';
import {
  byHand,
  drill,
  forgetLedger,
  leftOnTargets,
  load,
  say,
  seconds,
  when,
} from '../support/proof.ts';

const canaries = await load('scenarios/gpuaas/canaries');
const tampered = '/usr/sbin/iptables';

/** What a hand does meanwhile, for those that a file alone cannot make wrong. */
const meddling: Readonly<Record<string, () => Events>> = {
  'canaries/recovery-by-sql': () =>
    when(
      'recover',
      'start',
      () =>
        void byHand(
          'db',
          `psql -q -d gpuaas -c "update nodes set agent_status = 'healthy', reason = null, last_contact_at = now() where node_id = 'node-1'"`,
          'postgres',
        ),
    ),
  // The next word brings the journal back; said here, so that it comes before the look and not
  // after it.
  'canaries/effect-missing': () =>
    when(
      'effect',
      'start',
      () =>
        void byHand(
          'node-1',
          'logger a word; until systemctl -q is-active systemd-journald; do sleep 0.05; done',
        ),
    ),
  'canaries/leftovers': () =>
    when('repair', 'start', () => void byHand('node-1', `mv ${tampered} ${tampered}.away`)),
  'canaries/gone-too-early': () =>
    when(
      'observe',
      'start',
      () =>
        void byHand(
          'node-1',
          'iptables-save | grep hopdrill: | sed "s/^-A/-D/" | while read -r rule; do eval "iptables $rule"; done',
        ),
    ),
};

/** Each for its own reason: the fields of the reasons, exactly. */
const because: Readonly<
  Record<string, { fields: string[]; observed: RegExp; recovered: boolean }>
> = {
  'canaries/effect-missing': {
    fields: ['effect of service.stop on node:node-1'],
    observed: /ActiveState=active/,
    recovered: true,
  },
  'canaries/wrong-signal': {
    fields: ['signal'],
    observed: /^node_agent_api_unreachable$/,
    recovered: true,
  },
  'canaries/two-faults': {
    fields: ['also_failing'],
    observed: /^terminal_public_route$/,
    recovered: true,
  },
  'canaries/repair-does-nothing': {
    fields: ['repair'],
    observed: /^still there after node\.reconcile-names: .*ActiveState=inactive/,
    recovered: true,
  },
  'canaries/recovery-by-sql': {
    fields: ['database'],
    observed: /^postgres from a local socket \(psql\) at \S+ \S+: update /,
    recovered: true,
  },
  'canaries/leftovers': {
    fields: ['repair', 'recover', 'readback'],
    observed: /iptables/,
    recovered: false,
  },
  'canaries/gone-too-early': {
    fields: ['effect after observing'],
    observed: /gone before the run took it back/,
    recovered: true,
  },
};

const documented = (tags: readonly string[]): string | undefined =>
  tags.find((tag) => tag.startsWith('ends-'))?.slice('ends-'.length);
const ended: RunRecord[] = [];

afterEach(() => {
  byHand('node-1', `[ ! -e ${tampered}.away ] || mv ${tampered}.away ${tampered}`);
});

test('each has its documented verdict, and none is among the usual scenarios', () => {
  expect(canaries.map(({ record }) => record.scenario).sort()).toEqual(Object.keys(because).sort());
  for (const { record } of canaries)
    expect(['fail', 'inconclusive', 'dirty'], record.scenario).toContain(documented(record.tags));
  expect(findFiles([], root).filter((file) => file.includes('canaries'))).toEqual([]);
});

describe.for(canaries.map((scenario) => [scenario.record.scenario, scenario] as const))(
  '%s',
  ([name, scenario]) => {
    const wanted = because[name]!;

    test(`ends as ${documented(scenario.record.tags)}`, async () => {
      const run = await drill(scenario, {}, meddling[name]?.());
      ended.push(run);
      say(`${name.padEnd(30)} ${run.verdict.padEnd(12)} ${seconds(run.duration_ms)}`);
      expect(run.verdict, JSON.stringify(run.reasons)).toBe(documented(scenario.record.tags));
      expect(run.reasons.map((reason) => reason.field)).toEqual(wanted.fields);
      expect(run.reasons.at(-1)?.observed).toMatch(wanted.observed);
      expect(run.recovery?.after_ms !== null).toBe(wanted.recovered);
      if (run.verdict === 'dirty') await takenBackLater(run);
    });
  },
);

/**
 * What was left is named with the command that removes it, and is still there; the dead-man takes
 * it back once it can.
 */
async function takenBackLater(run: RunRecord): Promise<void> {
  expect(run.leftovers.at(-1)).toBe('to remove it: ./hopdrill undo');
  expect(run.leftovers[0]).toContain('egress.block on node:node-1');
  byHand('node-1', `mv ${tampered}.away ${tampered}`);
  const rules = async () => (await leftOnTargets()).filter((left) => left.includes('hopdrill:'));
  expect(await rules()).toHaveLength(1);
  await expect.poll(rules, { timeout: 25_000, interval: 500 }).toEqual([]);
}

test('none passed, and the platform is whole', async () => {
  expect(ended).toHaveLength(canaries.length);
  expect(ended.filter((run) => run.verdict === 'pass').map((run) => run.scenario)).toEqual([]);
  // The folder of the dirty one stays for `hopdrill undo`, which leaves it alone as long as its
  // ledger is open and this process, its owner, lives.
  const dirty = ended.filter((run) => run.verdict === 'dirty').map((run) => run.run_id);
  expect(
    (await leftOnTargets()).filter(
      (left) => !dirty.some((run) => left.endsWith(`/var/lib/hopdrill/${run}`)),
    ),
  ).toEqual([]);
  for (const run of dirty) await forgetLedger(run);
});

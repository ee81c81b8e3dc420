// What is broken is put back even when our own side breaks, and what a killed run left is found
// without its ledger.
import { rmSync, writeFileSync } from 'node:fs';
import { execa } from 'execa';
import { afterEach, expect, test } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { type RunEvent, runEvent } from '../../../harness/records/events.ts';
import { runOn } from '../../../harness/run.ts';
import {
  byHand,
  drill,
  leftOnTargets,
  one,
  out,
  profileOfSuite,
  stackOfSuite,
} from '../support/proof.ts';

const rules = async (): Promise<string[]> =>
  (await leftOnTargets()).filter((left) => left.includes('hopdrill:'));

const slots = (): string =>
  byHand(
    'db',
    "psql -X -q -t -A -d gpuaas -c 'select slot_name from pg_replication_slots'",
    'postgres',
  );

afterEach(async () => {
  await expect.poll(leftOnTargets, { timeout: 30_000 }).toEqual([]);
  expect(slots()).toBe('');
});

const usual = 'scenarios/gpuaas/node-agent/api-egress-rejected.yaml';

/**
 * While the fault is looked at, and written about once in a second, there comes a file where the
 * run folder was.
 */
function spoiler(): { readonly spoil: (event: RunEvent) => void; mend(): void } {
  let dir = '';
  const spoil = (event: RunEvent): void => {
    if (event.event === 'run') dir = event.dir;
    if (event.event !== 'stage' || event.stage !== 'observe' || event.status !== 'start') return;
    rmSync(dir, { recursive: true });
    writeFileSync(dir, '');
  };
  return { spoil, mend: () => rmSync(dir) };
}

test('when the run folder cannot be written any more', async () => {
  const { spoil, mend } = spoiler();
  await expect(drill(await one(usual), {}, spoil)).rejects.toThrow();
  expect(await rules()).toEqual([]);
  mend();
});

test('a command that breaks ends with 70, and its last line is the summary all the same', async () => {
  const { spoil, mend } = spoiler();
  const child = execa(
    'node',
    ['harness/cli/main.ts', 'run', usual, '--stack', stackOfSuite(), '--json'],
    {
      ...{ cwd: root, reject: false, stdin: 'ignore' },
    },
  );
  const events: RunEvent[] = [];
  for await (const line of child) {
    events.push(runEvent.parse(JSON.parse(line)));
    spoil(events.at(-1)!);
  }
  const { exitCode, stderr } = await child;
  expect({ exitCode, last: events.at(-1) }, stderr).toEqual({
    exitCode: 70,
    last: { event: 'summary', verdict: 'aborted', results: [] },
  });
  expect(stderr).toMatch(/hopdrill doctor.*HOPDRILL_DEBUG/);
  mend();
});

test('what a killed run of another machine left is taken back before anything is judged', async () => {
  const run = `r${Date.now()}-elsewhere`;
  byHand(
    'node-1',
    `iptables -I OUTPUT -p tcp --dport 443 -m comment --comment hopdrill:${run}:0 -j REJECT`,
  );
  const toxics = `${profileOfSuite().links?.toxiproxy}/proxies/node-1.term/toxics`;
  const toxic = { name: `hopdrill-${run}-1`, type: 'latency', attributes: { latency: 1 } };
  await fetch(toxics, { method: 'POST', body: JSON.stringify(toxic) });
  expect(await leftOnTargets()).toHaveLength(2);
  const notes: string[] = [];
  const record = await drill(
    await one('scenarios/gpuaas/node-agent/ops-ssh-refused.yaml'),
    {},
    (event) => {
      if (event.event === 'note') notes.push(event.text);
    },
  );
  expect({ verdict: record.verdict, reasons: record.reasons }).toEqual({
    verdict: 'pass',
    reasons: [],
  });
  expect(notes.join('\n')).toMatch(
    new RegExp(
      `node:node-1: rule of run ${run}: removed[^]*link:node-1.term: toxic latency of run ${run}: removed`,
    ),
  );
});

test('targets that cannot be searched are said, and the baseline judges the platform', async () => {
  const profile = { ...profileOfSuite(), links: { toxiproxy: 'http://127.0.0.1:9' } };
  const notes: string[] = [];
  const record = await runOn(await one('scenarios/gpuaas/node-agent/ops-ssh-refused.yaml'), {
    profile,
    options: { out },
    events: (event) => event.event === 'note' && notes.push(event.text),
  });
  expect({ verdict: record.verdict, reasons: record.reasons }).toEqual({
    verdict: 'pass',
    reasons: [],
  });
  expect(notes.join('\n')).toMatch(/links: could not be searched/);
});

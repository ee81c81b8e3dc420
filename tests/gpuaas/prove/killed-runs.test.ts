// Whole runs killed at random moments: once their dead-men are done, everything on the targets is as
// it was before, and the next run passes.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { differences, inventory, unreadable } from '../support/inventory.ts';
import { drill, one, profileOfSuite, say } from '../support/proof.ts';
import { begin } from '../support/proof-child.ts';
import { all, drawing, seed } from '../support/sampling.ts';

const kills = all ? 30 : 6;
const leaseSeconds = profileOfSuite().policies['undo.lease_seconds'] ?? 10;
/** For what a dead-man does after the lease, and for sessions that the target has to miss. */
const graceSeconds = 20;
/** About as long as a run takes from its first stage to its last. */
const longestSeconds = 12;

const files = ['node-agent', 'terminal'].flatMap((area) =>
  readdirSync(join(root, 'scenarios/gpuaas', area)).map(
    (file) => `scenarios/gpuaas/${area}/${file}`,
  ),
);
const draw = drawing('killed runs');
const rows = Array.from({ length: kills }, () => ({
  file: files[Math.floor(draw() * files.length)]!,
  after: Math.round(draw() * longestSeconds * 1000),
}));

test(`nothing is left by ${kills} killed runs (seed ${seed})`, {
  timeout: kills * 90_000,
}, async () => {
  // Whatever the targets need to come to rest after the test before this one.
  expect((await drill(await one('node-agent/api-egress-rejected'))).verdict).toBe('pass');
  const before = await inventory();
  expect(Object.values(before).flat().join('\n')).not.toContain(unreadable);
  for (const { file, after } of rows) {
    const run = begin([file]);
    await sleep(after);
    run.kill('SIGKILL');
    const ended = await run.end();
    const reached = ended.events.findLast((event) => event.event === 'stage');
    const stage = reached?.event === 'stage' ? `${reached.stage} (${reached.status})` : 'its start';
    const until = performance.now() + (leaseSeconds + graceSeconds) * 1000;
    let left = differences(before, await inventory());
    while (left.length > 0 && performance.now() < until) {
      await sleep(500);
      left = differences(before, await inventory());
    }
    say(`${file.slice('scenarios/gpuaas/'.length)} killed after ${after} ms, at ${stage}`);
    expect(left, `${file} killed after ${after} ms, at ${stage}`).toEqual([]);
  }
  const next = await drill(await one('node-agent/api-egress-rejected'));
  expect(next.verdict, JSON.stringify(next.reasons)).toBe('pass');
});

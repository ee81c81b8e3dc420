// Healthy preflights, while a person works in a terminal in Chromium on each node and a certificate
// is renewed by the product's own command, or while the machine has something else to do: not one of
// them may fail, and none may be unsure.
import { beforeAll, expect, test } from 'vitest';
import type { PreflightReport } from '../../../harness/records/preflight.ts';
import { profileFileOf } from '../../../harness/stack/state.ts';
import { busyLoops } from '../support/busy.ts';
import { argvFor, asCommand, notGreen, preflight } from '../support/preflight.ts';
import { workInTerminal } from '../support/terminal-user.ts';
import { World } from '../support/world.ts';

const perNode = Number(process.env.HOPDRILL_FALSE_ALARMS ?? 100);
const perNodeUnderLoad = Math.ceil(perNode / 4);
/** Every so many is a new process, as an operator's would be. */
const asProcess = 20;

let world: World;
let nodes: string[];

beforeAll(async () => {
  world = new World();
  nodes = Object.keys(world.profile.nodes);
  await world.untilGreen();
});

const serial = async (node: string): Promise<string> =>
  world.must(node, 'openssl x509 -in /etc/gpuaas/cert.pem -noout -serial');

interface Taken {
  readonly reports: PreflightReport[];
  readonly bad: string[];
}

/** The preflights of one node, one after the other. */
async function series(
  node: string,
  count: number,
  before: (turn: number) => void = () => undefined,
): Promise<Taken> {
  const profile = profileFileOf(world.profile.stack);
  const argv = argvFor(world.profile.stack, node);
  const taken: Taken = { reports: [], bad: [] };
  for (let turn = 0; turn < count; turn += 1) {
    before(turn);
    const started = new Date().toISOString();
    const report =
      turn % asProcess === asProcess - 1
        ? (await asCommand(['--profile', profile, '--node-id', node])).report
        : await preflight(argv);
    taken.reports.push(report);
    const wrong = notGreen(report);
    if (report.result !== 'healthy' || report.partial || wrong.length > 0)
      taken.bad.push(
        `${node} #${turn} at ${started}, ${report.duration_ms} ms: ${report.result} ${report.hop ?? ''} [${wrong.join(' | ')}] ${report.inconclusive_because.join('; ')}`,
      );
  }
  return taken;
}

function expectNoAlarm(all: readonly Taken[], count: number): void {
  expect(all.flatMap(({ bad }) => bad)).toEqual([]);
  expect(all.map(({ reports }) => reports.length)).toEqual(nodes.map(() => count));
  const correlations = new Set(
    all.flatMap(({ reports }) => reports.map((report) => report.correlation_id)),
  );
  expect(correlations.size).toBe(nodes.length * count);
}

/** A person works on the node all the while; a third of the way its certificate is renewed. */
async function besidePerson(node: string) {
  const over = new AbortController();
  const before = await serial(node);
  const person = workInTerminal(world, node, over.signal);
  let renewal: Promise<unknown> = Promise.resolve();
  // What fails beside the preflights fails the test in the end, when all have been asked.
  person.catch(() => {});
  const taken = await series(node, perNode, (turn) => {
    if (turn !== Math.floor(perNode * 0.3)) return;
    renewal = world.must(node, 'gpuaas-node-bootstrap renew');
    renewal.catch(() => {});
  });
  over.abort();
  await renewal;
  const commands = await person;
  return { ...taken, commands, renewed: (await serial(node)) !== before };
}

test(`${2 * perNode} healthy preflights beside people at work raise no alarm`, {
  timeout: 40 * 60_000,
}, async () => {
  const all = await Promise.all(nodes.map(besidePerson));
  expectNoAlarm(all, perNode);
  for (const [index, { renewed, commands }] of all.entries()) {
    expect(renewed, `${nodes[index]} has a new certificate`).toBe(true);
    expect(commands, `commands answered on ${nodes[index]}`).toBeGreaterThan(perNode / 10);
  }
});

test(`${2 * perNodeUnderLoad} healthy preflights on a busy machine raise no alarm`, {
  timeout: 20 * 60_000,
}, async () => {
  await using _load = busyLoops(2);
  const all = await Promise.all(nodes.map((node) => series(node, perNodeUnderLoad)));
  expectNoAlarm(all, perNodeUnderLoad);
});

// 200 healthy preflights, 100 a node, while a certificate is renewed by the product's own command
// and a person has a terminal open in Chromium: not one of them may fail, and none may be unsure.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsolePage } from '../../harness/drivers/browser.ts';
import type { PreflightReport } from '../../harness/records/preflight.ts';
import { profileFileOf } from '../../harness/stack/state.ts';
import { atConsole } from '../support/person.ts';
import { argvFor, asCommand, notGreen, preflight } from '../support/preflight.ts';
import { World } from '../support/world.ts';

const perNode = Number(process.env.HOPDRILL_FALSE_ALARMS ?? 100);
/** Every so many is a new process, as an operator's would be. */
const asProcess = 20;

let world: World;
const pages: ConsolePage[] = [];

beforeAll(async () => {
  world = new World();
  await world.untilGreen();
});
afterAll(async () => {
  await Promise.all(pages.map((page) => page.close()));
});

const serial = async (node: string): Promise<string> =>
  world.must(node, 'openssl x509 -in /etc/gpuaas/cert.pem -noout -serial');

interface Taken {
  readonly reports: PreflightReport[];
  readonly bad: string[];
  renewed: boolean;
  terminal: string;
}

/**
 * The preflights of one node one after the other; what the product and a person do meanwhile starts
 * between two of them and is not waited for.
 */
async function series(node: string): Promise<Taken> {
  const profile = profileFileOf(world.profile.stack);
  const argv = argvFor(profile, node);
  const taken: Taken = { reports: [], bad: [], renewed: false, terminal: '' };
  const meanwhile: Promise<unknown>[] = [];
  /** What fails here fails the test in the end, when all have been asked. */
  const alongside = (work: Promise<unknown>): void => {
    work.catch(() => {});
    meanwhile.push(work);
  };
  const before = await serial(node);
  for (let turn = 0; turn < perNode; turn += 1) {
    if (turn === Math.floor(perNode * 0.3))
      alongside(world.must(node, 'gpuaas-node-bootstrap renew'));
    if (turn === Math.floor(perNode * 0.5)) alongside(openTerminal(node, taken));
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
  await Promise.all(meanwhile);
  taken.renewed = (await serial(node)) !== before;
  return taken;
}

/** A real terminal that stays open to the end, with an answer of its shell in it. */
async function openTerminal(node: string, taken: Taken): Promise<void> {
  const page = await atConsole(world, node);
  pages.push(page);
  const ready = await page.waitFor((state) => state.state === 'ready', 15_000);
  if (!ready) return;
  await page.type('echo $((6*7000))\n');
  taken.terminal = await page.waitForText(/42000/, 10_000);
}

test(`${2 * perNode} healthy preflights raise no alarm`, { timeout: 40 * 60_000 }, async () => {
  const nodes = Object.keys(world.profile.nodes);
  const all = await Promise.all(nodes.map(series));
  expect(all.flatMap(({ bad }) => bad)).toEqual([]);
  expect(all.map(({ reports }) => reports.length)).toEqual(nodes.map(() => perNode));
  for (const [index, { renewed, terminal }] of all.entries()) {
    expect(renewed, `${nodes[index]} has a new certificate`).toBe(true);
    expect(terminal, `${nodes[index]} had a terminal in Chromium`).toContain('42000');
  }
  const correlations = new Set(
    all.flatMap(({ reports }) => reports.map((report) => report.correlation_id)),
  );
  expect(correlations.size).toBe(nodes.length * perNode);
});

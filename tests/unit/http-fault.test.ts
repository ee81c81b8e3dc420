// A fault whose inject and undo are requests, on a platform that answers badly: whatever it says,
// the ledger tells what is known, and the undo brings it back.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineFault } from '../../harness/faults/define.ts';
import { http, on } from '../../harness/faults/kit.ts';
import { planFault } from '../../harness/faults/plan-fault.ts';
import { profile as profileSchema } from '../../harness/records/profile.ts';
import { openEngine } from '../../harness/undo/engine.ts';

const door = { endpoint: 'api' };
const read = http('GET', '/door', { ...door, print: 'state' });
const shut = defineFault({
  name: 'door.shut',
  title: 'The door is shut',
  why: 'Nobody comes in.',
  params: z.strictObject({ on }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'api',
  plan: () => ({
    summary: 'the door is shut',
    cuts: [],
    snapshot: [{ name: 'state', do: { ...read, expect: 'open' } }],
    inject: [http('POST', '/door/shut', door)],
    undo: [http('POST', '/door/open', door)],
    active: { ...read, expect: 'shut' },
    digest: read,
  }),
});

/** What becomes of one request that changes something. */
type Answer = 'well' | 'refused' | 'broken' | 'half' | 'never';
let state = 'open';
let answers: Answer[] = [];
let server: Server;
let stateDir: string;
let runs = 0;

function change(to: string, answer: ServerResponse): void {
  const how = answers.shift() ?? 'well';
  if (how === 'refused') return void answer.writeHead(401).end('{"error":"who are you"}');
  state = to;
  if (how === 'well') return void answer.end('{}');
  if (how === 'broken') return void answer.writeHead(500).end('{"error":"no"}');
  if (how === 'never') return;
  answer.writeHead(200, { 'content-length': '100' }).write('{"sta');
  setImmediate(() => answer.socket?.destroy());
}

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'http-fault-'));
  server = createServer(({ method, url = '' }, answer) => {
    if (method === 'POST') change(url.endsWith('shut') ? 'shut' : 'open', answer);
    else answer.end(JSON.stringify({ state }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(stateDir, { recursive: true, force: true });
});
beforeEach(() => {
  state = 'open';
  answers = [];
  runs += 1;
});

async function prepared() {
  const profile = profileSchema.parse({
    ...{ version: 2, system: 'house', stack: 'house', disposable: true, environment: 'a house' },
    endpoints: { api: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    nodes: { hall: { lifeline: { kind: 'docker', container: 'no-such-hall' } } },
  });
  const runId = `http-fault-${process.pid}-${runs}`;
  const engine = await openEngine({ profile, runId, stateDir, deadman: false });
  await engine.prepare([planFault([shut], { name: 'door.shut', params: {} }, profile, 'hall')]);
  const ledger = (): string => readFileSync(join(engine.dir, 'ledger.jsonl'), 'utf8');
  return { engine, ledger };
}

test.each<[Answer, RegExp]>([
  ['refused', /answered 401: .*who are you/],
  ['broken', /answered 500/],
  ['half', /POST .*door.shut/],
])('the answer to the inject is %s: nobody knows, and it is undone', async (how, said) => {
  const { engine, ledger } = await prepared();
  answers = [how];
  await expect(engine.inject(0)).rejects.toThrow(said);
  expect(engine.steps[0]?.state).toBe('ambiguous');
  await engine.undo(0);
  expect(await engine.verify(0)).toMatchObject({ state: 'verified' });
  expect(await engine.close()).toEqual({ clean: true, unproven: [] });
  expect(state).toBe('open');
  expect(ledger()).toContain('"state":"ambiguous"');
});

test('the inject is never answered: after its limit nobody knows, and it is undone', {
  timeout: 30_000,
}, async () => {
  const { engine } = await prepared();
  answers = ['never'];
  await expect(engine.inject(0)).rejects.toMatchObject({ driver: 'http', code: 'timeout' });
  await engine.undo(0);
  expect(await engine.verify(0)).toMatchObject({ state: 'verified' });
  expect(await engine.close()).toMatchObject({ clean: true });
  expect(state).toBe('open');
});

test.each<[Answer, RegExp]>([
  ['refused', /answered 401/],
  ['half', /POST .*door.open/],
])('the answer to the undo is %s: it is not proven, until an undo is', async (how, said) => {
  const { engine, ledger } = await prepared();
  await engine.inject(0);
  answers = [how];
  await expect(engine.undo(0)).rejects.toThrow(said);
  expect(engine.steps[0]?.state).toBe('applied');
  expect(ledger()).not.toContain('"state":"reverted"');
  await engine.undo(0);
  expect(await engine.verify(0)).toMatchObject({ state: 'verified' });
  expect(await engine.close()).toEqual({ clean: true, unproven: [] });
  expect(state).toBe('open');
});

test('an undo that was refused for good leaves the run open, and says what is not proven', async () => {
  const { engine } = await prepared();
  await engine.inject(0);
  answers = ['refused'];
  await expect(engine.undo(0)).rejects.toThrow();
  expect(await engine.close()).toEqual({
    clean: false,
    unproven: ['step 0 door.shut on node:hall: applied'],
  });
});

test('whether it is in is read from the platform', async () => {
  const { engine } = await prepared();
  expect(await engine.isActive(0)).toMatchObject({ active: false });
  await engine.inject(0);
  expect(await engine.isActive(0)).toMatchObject({ active: true });
  await engine.undo(0);
  expect(await engine.verify(0)).toMatchObject({ state: 'verified' });
  await engine.close();
});

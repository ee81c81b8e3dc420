import { mkdtempSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultPlan, type StepState, stepStates } from '../../harness/records/fault.ts';
import type { NewLine } from '../../harness/records/ledger.ts';
import { isFinal, ledgerFile, openLedger, readLedger, replay } from '../../harness/undo/ledger.ts';

const read = { kind: 'toxiproxy', proxy: 'p', verb: 'read' } as const;
const plan = faultPlan.parse({
  ...{ fault: 'link.cut', params: {}, target: 'link:p', kind: 'toxic', summary: 's', cuts: [] },
  ...{ snapshot: [], inject: [read], undo: [read], active: read, digest: read },
});
const step = (index: number, state: StepState, more: object = {}): NewLine => ({
  type: 'step',
  step: index,
  state,
  at: 'now',
  by: 'runner',
  ...more,
});
const intended = (index: number): NewLine =>
  step(index, 'intended', { plan, digest_before: `before-${index}` });
const text = (lines: readonly NewLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('');
/** What the engine writes for two faults that are taken back in reverse. */
const whole: readonly NewLine[] = [
  ...[intended(0), intended(1), step(0, 'applied', { digest_injected: 'x' }), step(1, 'applied')],
  ...[
    step(1, 'reverted'),
    step(1, 'verified'),
    step(0, 'applied', { undoing: true }),
    step(0, 'reverted'),
    step(0, 'superseded'),
  ],
];

describe('replay', () => {
  test('any prefix gives the last state of each step, and never a later one', () => {
    for (let length = 0; length <= whole.length; length += 1) {
      const lines = whole.slice(0, length);
      const state = replay(text(lines));
      expect(state.torn).toBe(0);
      for (const found of state.steps) {
        const last = lines.findLast((line) => line.type === 'step' && line.step === found.step);
        expect(last).toMatchObject({ state: found.state });
        expect(found.digestBefore).toBe(`before-${found.step}`);
      }
    }
  });

  test('a torn last line is dropped, wherever it is cut', () => {
    const full = text(whole);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: full.length }), (cut) => {
        const whereLineEnds = full.slice(0, cut).lastIndexOf('\n') + 1;
        const cutState = replay(full.slice(0, cut));
        const cleanState = replay(full.slice(0, whereLineEnds));
        const torn = cut > whereLineEnds;
        // All of a line but its newline is a line.
        if (torn && full[cut] !== '\n') expect(cutState.steps).toEqual(cleanState.steps);
        expect(cutState.torn).toBe(torn && full[cut] !== '\n' ? 1 : 0);
      }),
    );
  });

  test('repeated lines change nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: whole.length - 1 })), (repeats) => {
        const lines = whole.flatMap((line, index) =>
          Array.from({ length: 1 + repeats.filter((one) => one === index).length }, () => line),
        );
        expect(replay(text(lines)).steps).toEqual(replay(text(whole)).steps);
      }),
    );
  });

  test('no order of lines makes a finished step unfinished', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...stepStates], { minLength: 1 }), (states) => {
        const found = replay(text([intended(0), ...states.map((state) => step(0, state))]))
          .steps[0]!;
        if (states.some(isFinal)) expect(isFinal(found.state)).toBe(true);
      }),
    );
  });

  test('a begun undo stays begun', () => {
    expect(replay(text(whole)).steps[0]).toMatchObject({
      undoing: true,
      digestInjected: 'x',
      state: 'superseded',
    });
    expect(replay(text([intended(0), step(0, 'applied')])).steps[0]).toMatchObject({
      undoing: false,
    });
  });

  test('a step without its plan is not a step', () => {
    expect(replay(text([step(3, 'applied')])).steps).toEqual([]);
  });
});

describe('the file', () => {
  test('is there after each append, and a writer that comes after a torn line is read', () => {
    const dir = join(mkdtempSync(join(tmpdir(), 'ledger-')), 'run');
    const first = openLedger(dir);
    first.append(intended(0));
    expect(readLedger(dir).steps[0]?.state).toBe('intended');
    first.append(step(0, 'applied'));
    first.close();
    truncateSync(ledgerFile(dir), readFileSync(ledgerFile(dir)).length - 9);
    const second = openLedger(dir);
    second.append(step(0, 'reverted'));
    second.close();
    expect(readLedger(dir)).toMatchObject({ torn: 1, steps: [{ state: 'reverted' }] });
  });
});

describe('ledgers of other versions', () => {
  const before = join(import.meta.dirname, '../fixtures/ledgers-v1');
  const run = {
    ...{ type: 'run', run: 'r-1', at: '', stack: 's', engine: 'e', lease_seconds: 10 },
    ...{ deadman: true, owner: { pid: 1, start_time: '', boot_id: '' } },
    targets: { stack: 's', nodes: {}, parts: {} },
  };
  const lines = (...all: readonly object[]): string =>
    all.map((line) => `\n${JSON.stringify(line)}\n`).join('');

  test.each(readdirSync(before))('version 1, %s: everything is understood', (file) => {
    const state = replay(readFileSync(join(before, file), 'utf8'));
    expect(state).toMatchObject({ unreadable: null, torn: 0, closed: false });
    expect(state.steps).toMatchObject([{ state: 'applied' }]);
    expect(state.steps[0]!.plan.undo.length).toBeGreaterThan(0);
  });

  test('what is written now says its version, and a node keeps keys that nobody knows yet', () => {
    const dir = mkdtempSync(join(tmpdir(), 'ledger-'));
    const ledger = openLedger(dir);
    ledger.append(run as NewLine);
    ledger.close();
    expect(readFileSync(ledgerFile(dir), 'utf8')).toContain('"v":2');
    const node = {
      ...{ sshHost: 'h', sshPort: 22, sshUser: 'u', knownHostsFile: '/k', sshKeyFile: '/i' },
      ...{ lifeline: { kind: 'docker', container: 'c', since: 'later' }, rack: 7 },
    };
    const later = { ...run, targets: { ...run.targets, nodes: { n: node } }, colour: 'blue' };
    expect(replay(lines(later))).toMatchObject({ unreadable: null, run: { stack: 's' } });
  });

  test.each([
    [
      'a newer version',
      { type: 'step', v: 3 },
      'line 4: written by a newer hopdrill (ledger version 3',
    ],
    ['a line of no known type', { type: 'song' }, 'line 4: type'],
    ['no object', [1], 'line 4: the line'],
    ['a step that nobody announced', step(4, 'applied'), 'line 4: step 4 has no plan'],
  ])('%s cannot be read, and that is said with its line', (_, line, why) => {
    const state = replay(lines(run, line));
    expect(state.unreadable).toContain(why);
    expect(state.run?.run).toBe('r-1');
  });

  test('steps without the line that says whose they are cannot be read', () => {
    expect(replay(text([intended(0)])).unreadable).toContain('which targets');
  });

  test('a line that a crash cut off is no reason: what it announces had not begun', () => {
    expect(replay(`${lines(run)}{"type":"step","st`)).toMatchObject({ torn: 1, unreadable: null });
  });
});

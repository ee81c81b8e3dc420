// npm run bench: the table of DESIGN 10 measured on this machine, now. A row that does not reach is
// a result like any other: only a measurement that broke makes the exit code other than 0.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../harness/base/message-of.ts';
import {
  type BenchDocument,
  type BenchRow,
  benchDocument,
} from '../../harness/records/documents.ts';
import { engineRows } from './engine.ts';
import { machineRows } from './machine.ts';
import type { Bench, Measurement } from './measurement.ts';
import { places } from './places.ts';
import { preflightRows } from './preflight.ts';
import { scenarioRows } from './scenarios.ts';

const measurements: readonly Measurement[] = [
  preflightRows,
  engineRows,
  scenarioRows,
  ...machineRows,
];

const help = `Usage: npm run bench -- [options]

Measures every row of the table of numbers: medians, interleaved with what they are compared to, as ratios of one run.
Alone on the machine, please: other work makes all of it slower, and the load average is printed with the rows.

  --only NAME      only this row or measurement (may be repeated)
  --rounds N       how often each is measured (default 11)
  --stack NAME     on this stack (default: one of its own, brought up and taken down)
  --peers          also install Chaos Toolkit from PyPI and run the same small experiment in it
  --clone          also a fresh clone to its first verdict (minutes)
  --catalogue      also the whole catalogue on two stacks (minutes)
  --list           say which rows there are
  --json           one JSON document on stdout (harness/records/schemas/bench.json)

Exit codes: 0 measured (whether rows reach or not), 64 wrong usage, 70 a measurement broke.
`;

const options = {
  only: { type: 'string', multiple: true },
  rounds: { type: 'string', default: '11' },
  stack: { type: 'string' },
  peers: { type: 'boolean', default: false },
  clone: { type: 'boolean', default: false },
  catalogue: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Wanted = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

function read(argv: readonly string[]): Wanted {
  const { values } = parseArgs({ args: [...argv], options, strict: true });
  if (!/^[1-9]\d{0,2}$/.test(values.rounds))
    throw new Error(`--rounds ${values.rounds}: a whole number from 1 to 999`);
  const known = measurements.flatMap((one) => [one.name, ...one.rows]);
  const unknown = values.only?.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`--only ${unknown}: one of ${[...new Set(known)].join(', ')}`);
  return values;
}

function chosen(wanted: Wanted): Measurement[] {
  const asked = wanted.only;
  if (asked !== undefined)
    return measurements.filter((one) =>
      [one.name, ...one.rows].some((name) => asked.includes(name)),
    );
  return measurements.filter((one) => one.onRequest === undefined || wanted[one.onRequest.option]);
}

/** Every row of the table is printed, with or without a number. */
function notAskedFor(wanted: Wanted, { rows, notes }: BenchDocument): void {
  if (wanted.only !== undefined) return;
  for (const { onRequest } of measurements) {
    if (onRequest === undefined || wanted[onRequest.option]) continue;
    rows.push(onRequest.row);
    notes[onRequest.row.name] = `takes minutes: npm run bench -- --${onRequest.option}`;
  }
}

async function measure(wanted: Wanted): Promise<BenchDocument> {
  const work = mkdtempSync(join(tmpdir(), 'hopdrill-bench-'));
  const say = (text: string) => process.stderr.write(`bench: ${text}\n`);
  const { close, ...where } = places(wanted.stack, say);
  const document: BenchDocument = {
    rows: [],
    notes: {},
    machine: {
      cores: availableParallelism(),
      load_before: loadavg()[0] ?? 0,
      load_after: 0,
      rounds: Number(wanted.rounds),
    },
    broken: [],
  };
  const note = (row: string, text: string) => {
    document.notes[row] =
      document.notes[row] === undefined ? text : `${document.notes[row]}; ${text}`;
  };
  const bench: Bench = {
    ...where,
    rounds: Number(wanted.rounds),
    peers: wanted.peers,
    say,
    note,
    work,
  };
  try {
    for (const measurement of chosen(wanted)) {
      if (stopped.signal.aborted) break;
      say(`${measurement.name}: ${measurement.about}`);
      try {
        const rows = await measurement.run(bench);
        document.rows.push(...rows.filter((one) => isWanted(one, measurement, wanted)));
      } catch (error) {
        document.broken.push(`${measurement.name}: ${messageOf(error)}`);
      }
    }
  } finally {
    await close();
    rmSync(work, { recursive: true, force: true });
  }
  notAskedFor(wanted, document);
  document.machine.load_after = loadavg()[0] ?? 0;
  return benchDocument.parse(document);
}

const isWanted = (row: BenchRow, { name }: Measurement, { only }: Wanted): boolean =>
  only === undefined || only.includes(name) || only.includes(row.name);

function table({ rows, notes, machine, broken }: BenchDocument): string {
  const cells = rows.map((row) => [
    row.ok === null ? '-' : row.ok ? 'reaches' : 'MISSES',
    row.name,
    row.value === null ? '-' : `${row.value} ${row.unit}`,
    row.baseline === null ? '-' : String(row.baseline),
    row.ratio === null ? '-' : `${row.ratio} x`,
    row.reach,
  ]);
  const head = ['', 'what', 'value', 'beside', 'ratio', 'reach'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const line = (words: readonly string[]) =>
    words
      .map((word, column) => word.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const words = Object.entries(notes)
    .filter(([name]) => rows.some((row) => row.name === name))
    .map(([name, text]) => `  ${name}: ${text}`);
  const load = `load average ${machine.load_before.toFixed(1)} before and ${machine.load_after.toFixed(1)} after, on ${machine.cores} cores; ${machine.rounds} rounds`;
  return `${[line(head), ...cells.map(line), '', ...words, load, ...broken.map((text) => `broken: ${text}`)].join('\n')}\n`;
}

const listing = (): string =>
  `${measurements.map((one) => `${one.name.padEnd(12)} ${one.about}${one.onRequest ? ` (with --${one.onRequest.option})` : ''}\n${one.rows.map((name) => `  ${name}\n`).join('')}`).join('')}`;

const stopped = new AbortController();

async function main(argv: readonly string[]): Promise<number> {
  let wanted: Wanted;
  try {
    wanted = read(argv);
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n`);
    return 64;
  }
  if (wanted.help) process.stdout.write(help);
  else if (wanted.list) process.stdout.write(listing());
  else {
    const document = await measure(wanted);
    process.stdout.write(wanted.json ? `${JSON.stringify(document, null, 2)}\n` : table(document));
    if (stopped.signal.aborted) return stopped.signal.reason === 'SIGTERM' ? 143 : 130;
    return document.broken.length > 0 ? 70 : 0;
  }
  return 0;
}

// What was brought up is taken down first: the command that runs hears the signal from the terminal
// itself.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopped.abort(name));
process.exitCode = await main(process.argv.slice(2));

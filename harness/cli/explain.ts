import { z } from 'zod';
import { nearest } from '../base/nearest.ts';
import type { FaultDefinition } from '../faults/define.ts';
import { adviceOn } from '../preflight/advice.ts';
import type { Signal } from '../preflight/types.ts';
import { knownFaults, loadSystem, type System, systemNames } from '../systems/index.ts';
import { WrongUsage } from './arguments.ts';
import { select } from './select.ts';

export const summary = 'say in words what a scenario, fault, hop or signal is';
export const help = `Usage: hopdrill explain <scenario|fault|hop|signal|repair|proof|invariant>

What it is, why, who owns it, how it is broken and how it is repaired.

Examples:
  hopdrill explain {scenario}
  hopdrill explain link.cut
  hopdrill explain {hop}

Exit codes: 0, 64 wrong usage (nothing has that name, or a scenario file has mistakes), 70 internal error.
`;

export async function run(argv: readonly string[]): Promise<number> {
  const [name, ...more] = argv;
  if (name === undefined || more.length > 0 || name.startsWith('-'))
    throw new WrongUsage('explain: one name ("hopdrill explain --help")');
  const pages = await allPages();
  const page = pages.get(name);
  if (page === undefined) {
    const near = nearest(name, [...pages.keys()]);
    throw new WrongUsage(
      `explain: nothing is called ${name}${near === undefined ? '' : `; did you mean ${near}?`} ("hopdrill list" names the scenarios, "hopdrill preflight --explain" hops and signals)`,
    );
  }
  process.stdout.write(`${page}\n`);
  return 0;
}

async function allPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const { file, record } of await select({ patterns: [] })) {
    const { expect } = record;
    const page = lines(`${record.scenario} (scenario, ${record.severity}, ${file})`, [
      record.title,
      record.why,
      `breaks    ${record.faults.map((entry) => JSON.stringify(entry)).join(', ')}`,
      `expects   ${[expect.hop, expect.signal, expect.cause].filter((one) => one !== undefined).join(' / ')}${expect.hop === 'none' ? '' : `, confidence ${expect.confidence}`}`,
      `user sees ${expect.user === undefined ? 'not asked' : `${expect.user.state}${expect.user.access === undefined ? '' : `, access ${expect.user.access}`}`}`,
      `repair    ${Array.isArray(record.repair) ? record.repair.join(', ') : record.repair}`,
      `proofs    ${record.recover.proof.join(', ')}`,
      `never     ${expect.never.join(', ') || 'nothing named'}`,
      `source    ${record.source.join(', ')}`,
    ]);
    pages.set(record.scenario, page);
  }
  const systems = await Promise.all(systemNames().map(loadSystem));
  for (const system of systems) addSystem(pages, system);
  for (const fault of await knownFaults()) pages.set(fault.name, faultPage(fault, systems));
  return pages;
}

function faultPage(fault: FaultDefinition, systems: readonly System[]): string {
  const mended = systems.flatMap(({ repairs }) =>
    Object.keys(repairs).filter((name) => repairs[name]?.mends.includes(fault.name)),
  );
  const schema = z.toJSONSchema(fault.params, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, { description?: string; enum?: unknown[] }>;
  };
  const params = Object.entries(schema.properties ?? {}).map(
    ([key, row]) =>
      `  ${key}: ${row.description ?? ''}${row.enum === undefined ? '' : ` (${row.enum.join(', ')})`}`,
  );
  return lines(`${fault.name} (fault on a ${fault.targetKind})`, [
    fault.title,
    fault.why,
    'parameters',
    ...params,
    `repaired by ${mended.join(', ') || 'our undo alone'}`,
  ]);
}

function addSystem(pages: Map<string, string>, system: System): void {
  for (const [name, repair] of Object.entries(system.repairs))
    pages.set(name, lines(`${name} (repair)`, [repair.title, repair.command]));
  for (const [name, proof] of Object.entries(system.proofs))
    pages.set(name, lines(`${name} (proof)`, [proof.title]));
  for (const [name, rule] of Object.entries(system.invariants))
    pages.set(
      name,
      lines(`${name} (invariant)`, [rule.title, `catalogue: ${rule.texts.join(' | ')}`]),
    );
  for (const [name, signal] of Object.entries(system.signals)) {
    const hops = system.hops.filter((hop) => hop.signals.includes(name)).map((hop) => hop.id);
    const causes = signal.causes.flatMap((cause) => [
      `  ${cause}: ${system.causes[cause] ?? ''}`,
      ...ownAdvice(signal, cause).map((line) => `    ${line}`),
    ]);
    pages.set(
      name,
      lines(`${name} (signal, ${signal.severity})`, [
        `given by  ${hops.join(', ')}`,
        `owner     ${signal.owner}`,
        `next      ${signal.next}`,
        ...(signal.command === undefined ? [] : [`command   ${signal.command}`]),
        'causes',
        ...causes,
      ]),
    );
  }
  for (const hop of system.hops) {
    const explained = hop.explainedBy.map((one) =>
      typeof one === 'string' ? one : `${one.hop} when it blames ${one.whenBlames}`,
    );
    pages.set(
      hop.id,
      lines(`${hop.id} (hop ${hop.order})`, [
        hop.title,
        `asked from ${hop.vantage}`,
        `signals   ${hop.signals.join(', ')}`,
        `explained by ${explained.join(', ') || 'nothing'}`,
        ...(explained.length === 0 ? [] : ['unsure    while one of those gives no answer']),
      ]),
    );
  }
}

/** What holds for this cause and not for the signal as a whole. */
function ownAdvice(signal: Signal, cause: string): string[] {
  if (signal.advice?.[cause] === undefined) return [];
  const { owner, next, command } = adviceOn(signal, cause);
  return [
    ...(owner === signal.owner ? [] : [`owner ${owner}`]),
    `next  ${next}${command === undefined ? '' : ` (${command})`}`,
  ];
}

function lines(title: string, rest: readonly string[]): string {
  return [title, ...rest.map((line) => `  ${line}`)].join('\n');
}

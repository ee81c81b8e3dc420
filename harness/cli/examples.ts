// The examples of a help page name what there is: scenarios and hops of the usual system, in place
// of {scenario}, {other}, {area} and {hop}.
import { dirname, relative } from 'node:path';
import { findFiles } from '../scenarios/load.ts';
import { type AskedSystem, SystemProblem, usualSystem } from '../systems/index.ts';
import { root } from './select.ts';

/** What the page says of itself where no system is the usual one. */
const nothing = {
  scenario: 'AREA/SCENARIO',
  other: 'AREA/OTHER',
  area: 'AREA',
  folder: 'scenarios/SYSTEM',
  hop: 'HOP',
};

export async function withRealNames(help: string): Promise<string> {
  if (!/\{[a-z]+\}/.test(help)) return help;
  const names = await realNames();
  return help.replace(
    /\{([a-z]+)\}/g,
    (all, key: string) => names[key as keyof typeof names] ?? all,
  );
}

async function realNames(): Promise<typeof nothing> {
  let system: AskedSystem;
  try {
    system = await usualSystem();
  } catch (error) {
    if (error instanceof SystemProblem) return nothing;
    throw error;
  }
  const hop = system.hops[0]?.id ?? nothing.hop;
  const files = findFiles([`scenarios/${system.name}/**/*.yaml`], root);
  const [first, second = first] = files.map((file) => nameOf(file, system.name));
  if (first === undefined || second === undefined) return { ...nothing, hop };
  const folder = dirname(files[0]!);
  return { scenario: first, other: second, area: dirname(first), folder, hop };
}

/** The path below the system's folder, or below `scenarios/` where the system has no areas. */
function nameOf(file: string, system: string): string {
  const path = relative(`scenarios/${system}`, file).replace(/\.yaml$/, '');
  return path.includes('/') ? path : `${system}/${path}`;
}

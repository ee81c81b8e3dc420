// Who may import whom, as ARCHITECTURE.md has it. One declaration; `npm run check` and a unit test
// both read it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

const below = [
  'base',
  'records',
  'yaml',
  'items',
  'drivers',
  'undo',
  'faults',
  'preflight',
  'systems',
  'scenarios',
  'judge',
  'plan',
  'run-tools',
] as const;

/**
 * Areas by the folder (or file) that they are, with the areas that they may import besides
 * themselves.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  // Helpers that know no record and no target.
  base: [],
  records: ['base'],
  // Files that people write, read with every mistake at once and its place.
  yaml: ['base', 'records'],
  // Expectations of what is read of the platform; pure.
  items: ['base', 'records'],
  drivers: ['base', 'records'],
  undo: ['base', 'records', 'drivers'],
  faults: ['base', 'records', 'drivers', 'undo'],
  preflight: ['base', 'records', 'drivers'],
  systems: ['base', 'records', 'items', 'drivers', 'preflight', 'faults'],
  // The words that a scenario may use come from the faults and systems that there are.
  scenarios: ['base', 'records', 'yaml', 'faults', 'systems'],
  // A verdict comes from the record alone.
  judge: ['base', 'records', 'items'],
  plan: ['base', 'records', 'undo', 'faults', 'preflight', 'systems', 'scenarios'],
  'run-tools': ['base', 'records', 'items', 'drivers', 'undo', 'preflight', 'systems', 'plan'],
  run: below,
  // The machine that stacks run on. A stack is ready when the preflight of its system is green.
  stack: ['base', 'records', 'yaml', 'drivers', 'preflight', 'systems'],
  cli: [...below, 'run', 'stack', 'reports'],
  plugin: [...below, 'run', 'stack', 'reports'],
  reports: ['base', 'records'],
  fixtures: [],
};

/**
 * Packages that do I/O on targets. Only drivers touch a target, so that each way to it exists once.
 */
const targetPackages = [
  'ssh2',
  'dockerode',
  'toxiproxy-node-client',
  'ws',
  'postgres',
  'playwright-core',
  'ioredis',
];

/** Null: free to import what it likes (tests, tools, scenarios, configuration). */
export function areaOf(file: string): string | null {
  const [top, second = ''] = file.split('/');
  if (top === 'reports' || top === 'fixtures') return top;
  if (top !== 'harness') return null;
  if (second.startsWith('vitest-')) return 'plugin';
  // The file beside the folders puts plan, tools and run together.
  return second.endsWith('.ts') ? 'run' : second;
}

const importPattern =
  /(?:^|[\s;}])(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/gm;

export const importsOf = (source: string): string[] =>
  [...source.matchAll(importPattern)].map((match) => match[1] ?? match[2]!);

/** It calls the steps of a run, one file each beside it. */
const tableOfContents = 'harness/run/run.ts';

const isStep = (file: string): boolean =>
  file.startsWith('harness/run/') && file !== tableOfContents;

/** The one place that names the systems there are. */
const systemList = 'harness/systems/index.ts';

const systemOf = (file: string): string | null =>
  /^harness\/systems\/([^/]+)\//.exec(file)?.[1] ?? null;

/** Within a system: what asks must not be able to know what is broken, or how it is mended. */
const asks =
  /^harness\/systems\/[^/]+\/((hops|probe)\/|(ask|advice|causes|conclude|names|signals|words)[^/]*\.ts$)/;
const breaksOrMends =
  /^harness\/systems\/[^/]+\/((faults|acts)\/|(faults|acts?|repairs|gate|see)\.ts$)/;

function offence(file: string, specifier: string): string | null {
  const area = areaOf(file);
  if (area === null) return null;
  if (!specifier.startsWith('.')) {
    const isTarget = targetPackages.some(
      (name) => specifier === name || specifier.startsWith(`${name}/`),
    );
    return isTarget && file.startsWith('harness/') && area !== 'drivers'
      ? 'only drivers import packages that do I/O on targets'
      : null;
  }
  const target = join(dirname(file), specifier);
  if (isStep(file) && isStep(target)) return `only ${tableOfContents} calls a step`;
  const targetArea = areaOf(target);
  if (targetArea === null) return 'what runs does not import tests, tools or configuration';
  if (!mayImport[area])
    return `${area} is in no rule; name it in tools/import-rule.ts and ARCHITECTURE.md`;
  const [own, other] = [systemOf(file), systemOf(target)];
  if (other !== null && own !== other && file !== systemList)
    return own === null
      ? `no system is known outside ${systemList}`
      : 'one system knows nothing of another';
  if (asks.test(file) && (breaksOrMends.test(target) || targetArea === 'faults'))
    return 'what a preflight loads knows nothing of faults, repairs and gates';
  if (area === targetArea) return null;
  return mayImport[area].includes(targetArea)
    ? null
    : `${area} may import ${mayImport[area].join(', ') || 'nothing else'}`;
}

export const offencesIn = (file: string, source: string): string[] =>
  importsOf(source).flatMap((specifier) => {
    const why = offence(file, specifier);
    return why === null ? [] : [`${file}: imports ${specifier}: ${why}`];
  });

export function sourceFiles(): string[] {
  return ['harness', 'fixtures', 'reports'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mjs|js)$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter((file) => !file.startsWith('reports/out') && !file.includes('node_modules')),
  );
}

export const offences = (): string[] =>
  sourceFiles().flatMap((file) => offencesIn(file, readFileSync(join(root, file), 'utf8')));

if (import.meta.main) {
  const found = offences();
  process.stdout.write(found.map((line) => `${line}\n`).join(''));
  process.exitCode = found.length === 0 ? 0 : 1;
}

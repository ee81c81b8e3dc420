import { expect, test } from 'vitest';
import {
  areaOf,
  importsOf,
  mayImport,
  offences,
  offencesIn,
  sourceFiles,
} from '../../tools/import-rule.ts';

test('nobody imports against the rule', () => {
  expect(offences()).toEqual([]);
});

test('the rule looks at something, and every area that there is has its line', () => {
  const areas = new Set(sourceFiles().map((file) => areaOf(file)));
  expect(areas.size).toBeGreaterThan(4);
  for (const area of areas) expect(mayImport).toHaveProperty(String(area));
});

test('all ways to write an import are seen', () => {
  const source = `
import { a } from './a.ts';
import type { B } from "./b.ts";
import {
  c,
} from './c.ts';
export * from './d.ts';
export { e } from './e.ts';
import './f.ts';
const g = await import('./g.ts');
`;
  expect(importsOf(source)).toEqual([
    './a.ts',
    './b.ts',
    './c.ts',
    './d.ts',
    './e.ts',
    './f.ts',
    './g.ts',
  ]);
});

test.each([
  ['harness/records/a.ts', '../drivers/http.ts'],
  ['harness/undo/a.ts', '../faults/index.ts'],
  ['harness/preflight/a.ts', '../systems/index.ts'],
  ['harness/faults/a.ts', '../systems/index.ts'],
  ['harness/run/a.ts', '../cli/run.ts'],
  ['harness/run-tools/a.ts', 'ssh2'],
  ['harness/run/a.ts', './observe.ts'],
  ['harness/run-tools/a.ts', '../run/run.ts'],
  ['harness/judge/a.ts', '../scenarios/load.ts'],
  ['harness/cli/a.ts', '../../fixtures/gpuaas/contract/log.ts'],
  ['harness/cli/a.ts', '../../tests/support/world.ts'],
  ['fixtures/gpuaas/api/a.ts', '../../../harness/records/profile.ts'],
  ['reports/a.ts', '../harness/judge/judge.ts'],
  ['harness/systems/gpuaas/a.ts', '../one-hop/index.ts'],
  ['harness/systems/define.ts', './gpuaas/index.ts'],
  ['harness/run/a.ts', '../systems/gpuaas/index.ts'],
  ['harness/run.ts', './systems/one-hop/index.ts'],
  ['harness/cli/a.ts', '../systems/gpuaas/flags.ts'],
  ['harness/systems/gpuaas/hops/a.ts', '../faults/config-set.ts'],
  ['harness/systems/gpuaas/probe/a.ts', '../repairs.ts'],
  ['harness/systems/gpuaas/hops/a.ts', '../../../faults/kit.ts'],
  ['harness/systems/gpuaas/signals.ts', './act.ts'],
  ['harness/systems/one-hop/ask.ts', './gate.ts'],
  ['harness/elsewhere/a.ts', '../records/profile.ts'],
])('%s may not import %s', (file, specifier) => {
  expect(offencesIn(file, `import { x } from '${specifier}';`)).toHaveLength(1);
});

test.each([
  ['harness/faults/a.ts', '../records/fault.ts'],
  ['harness/drivers/a.ts', 'ssh2'],
  ['harness/systems/gpuaas/a.ts', '../hooks.ts'],
  ['harness/systems/index.ts', './gpuaas/index.ts'],
  ['harness/systems/gpuaas/see.ts', './repairs.ts'],
  ['harness/systems/gpuaas/index.ts', './see.ts'],
  ['harness/cli/a.ts', '../stack/up.ts'],
  ['reports/a.ts', '../harness/records/verdict.ts'],
  ['fixtures/gpuaas/gateway/a.ts', 'ws'],
])('%s may import %s', (file, specifier) => {
  expect(offencesIn(file, `import { x } from '${specifier}';`)).toEqual([]);
});

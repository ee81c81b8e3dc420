import { relative, resolve } from 'node:path';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { notYetFileName } from './scenarios/not-yet.ts';
import { readSource } from './yaml/source.ts';

/**
 * Makes every scenario file a vitest test: file filters, `-t`, sharding, reporters and Allure come
 * from vitest.
 */
const root = resolve(import.meta.dirname, '..');
const isScenario = (id: string): boolean => /\/scenarios\/.*\.yaml$/.test(id);

interface Plugin {
  readonly name: string;
  readonly enforce: 'pre';
  transform(code: string, id: string): { code: string; map: null } | undefined;
}

export function scenarioTests(): Plugin {
  return {
    name: 'hopdrill-scenarios',
    enforce: 'pre',
    transform(code, id) {
      const file = id.split('?')[0] ?? id;
      if (!isScenario(file)) return undefined;
      return { code: moduleFor(code, relative(root, file)), map: null };
    },
  };
}

/** A file that cannot be read is still a test, and fails with all its mistakes. */
function moduleFor(text: string, file: string): string {
  const value = readSource(text).value as { scenario?: unknown } | undefined;
  const title = typeof value?.scenario === 'string' ? value.scenario : file;
  const door = resolve(root, 'harness/vitest-door.ts');
  return `import { test } from 'vitest';
import { runAsTest } from ${JSON.stringify(door)};
test(${JSON.stringify(title)}, () => runAsTest(${JSON.stringify(file)}));
`;
}

/** One worker owns one stack; nothing is isolated, because the modules hold no state of a run. */
export function scenarioProject(): TestProjectInlineConfiguration {
  const stacks = (process.env.HOPDRILL_STACKS ?? process.env.HOPDRILL_STACK ?? '')
    .split(',')
    .filter((name) => name !== '');
  return {
    plugins: [scenarioTests()],
    test: {
      name: 'scenarios',
      include: ['scenarios/**/*.yaml'],
      exclude: ['scenarios/*/canaries/**', `scenarios/**/${notYetFileName}`],
      isolate: false,
      pool: 'forks',
      maxWorkers: Math.max(1, stacks.length),
      retry: 0,
      testTimeout: 15 * 60_000,
      hookTimeout: 60_000,
    },
  } as TestProjectInlineConfiguration;
}

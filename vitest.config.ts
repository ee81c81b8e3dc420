import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { scenarioProject } from './harness/vitest-plugin.ts';

const minutes = 60_000;

/**
 * Tests of running stacks, most of them of the one named by HOPDRILL_STACK: one after the other, or
 * they would break each other's platform.
 */
const onStack = (name: string, testTimeout: number): TestProjectInlineConfiguration => ({
  test: {
    name,
    include: [`tests/{,*/}${name}/**/*.test.ts`],
    fileParallelism: false,
    isolate: false,
    testTimeout,
    hookTimeout: testTimeout,
    retry: 0,
  },
});

const projects: TestProjectInlineConfiguration[] = [
  {
    test: {
      name: 'unit',
      include: ['tests/{,*/}unit/**/*.test.ts'],
      testTimeout: 20_000,
      hookTimeout: 20_000,
      retry: 0,
    },
  },
  onStack('contract', 2 * minutes),
  onStack('prove', 15 * minutes),
  onStack('alone', 3 * minutes),
  // The scenarios are tests too: each file is one.
  scenarioProject(),
];

// `npm run chaos` wants Allure's raw results beside the other reports.
const allure = process.env.HOPDRILL_ALLURE_RESULTS;
const reporters =
  allure === undefined
    ? undefined
    : ['default', ['allure-vitest/reporter', { resultsDir: allure, reportMatchers: false }]];

export default defineConfig({
  test: { projects, passWithNoTests: true, ...(reporters && { reporters: reporters as never }) },
});

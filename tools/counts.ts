// How many tests passed and failed, read from vitest's JSON report. A file that could not even be
// loaded counts as one failure, and so does a report that is not there: silence is no success.
import { existsSync, readFileSync } from 'node:fs';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

export function countsOf(report: Report): Counts {
  const broken = report.testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

/**
 * The exit code has the last word: a run that failed without a failed test (an unhandled error)
 * still counts.
 */
export function readCounts(file: string, exitCode: number): Counts {
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const counts = countsOf(JSON.parse(readFileSync(file, 'utf8')) as Report);
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

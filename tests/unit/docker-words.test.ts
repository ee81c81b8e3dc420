import { expect, test } from 'vitest';
import { stoppedMeanwhile } from '../../harness/drivers/docker.ts';

const began = 'OCI runtime exec failed: exec failed: ';

test.each([
  [
    `${began}unable to start container process: error executing setns process: exit status 1: unknown`,
  ],
  [`${began}cannot exec in a stopped container: unknown`],
])('%s: the container stopped meanwhile', (said) => expect(said).toMatch(stoppedMeanwhile));

test.each([
  [`${began}unable to start container process: exec: "foo": executable file not found in $PATH`],
  ['a program that says: OCI runtime exec failed: error executing setns process'],
])('%s: it did not', (said) => expect(said).not.toMatch(stoppedMeanwhile));

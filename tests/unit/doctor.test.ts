// `doctor` as a person runs it on a machine whose engine does not answer.
import { execa } from 'execa';
import { expect, test } from 'vitest';

const hopdrill = new URL('../../hopdrill', import.meta.url).pathname;
const host = 'unix:///nowhere/docker.sock';
const doctor = (...words: string[]) =>
  execa(hopdrill, ['doctor', ...words], {
    env: { DOCKER_HOST: host, NO_COLOR: '1' },
    reject: false,
    stdin: 'ignore',
  });

interface Row {
  readonly name: string;
  readonly status: string;
  readonly missing?: string;
  readonly how?: string;
}

test('an engine that does not answer is missing, with its cure, and so is what needs it', async () => {
  const { exitCode, stdout } = await doctor('--json');
  expect(exitCode).toBe(1);
  const { ok, prerequisites } = JSON.parse(stdout) as { ok: boolean; prerequisites: Row[] };
  const row = (name: string) => prerequisites.find((one) => one.name === name);
  expect(ok).toBe(false);
  expect(row('docker engine')).toMatchObject({
    status: 'missing',
    missing: expect.stringMatching(/^docker engine that answers/),
    how: `start the engine at ${host}, or unset DOCKER_HOST`,
  });
  expect(row('images')).toMatchObject({ status: 'missing' });
  expect(row('packages')).toMatchObject({ status: 'found' });
});

test('people read the same', async () => {
  const { exitCode, stdout } = await doctor();
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(
    /^missing +docker engine +docker engine that answers .*\n +why: .*containers\n +get: start the engine at .*unset DOCKER_HOST$/m,
  );
  expect(stdout).toMatch(/\d missing\. "hopdrill setup" brings about what it can/);
});

test('what needs no engine does not miss it', async () => {
  const { exitCode, stdout } = await doctor('--for', 'check');
  expect(exitCode, stdout).toBe(0);
  expect(stdout).toMatch(/^not needed +docker engine +not needed for check$/m);
});

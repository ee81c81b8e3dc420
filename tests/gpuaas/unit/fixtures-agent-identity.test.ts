// The node's pair on disk, when more than one process replaces it: the agent by itself, and a
// command of the operator.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { claim } from '../../../fixtures/gpuaas/node-agent/claim.ts';
import { makeCertificateRequest } from '../../../fixtures/gpuaas/node-agent/csr.ts';
import { checkIdentity, makeRoom } from '../../../fixtures/gpuaas/node-agent/identity.ts';
import { makeAuthority } from '../../../fixtures/gpuaas/pki/authority.ts';
import { issueNode } from './fixtures-agent-platform.ts';

const perProcess = 20;
const script = new URL('../support/replace-identity.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'agent-identity-'));
const at = (name: string): string => join(folder, name);
const paths = { certPath: at('cert.pem'), keyPath: at('key.pem') };
const given = (turn: number): { key: string; cert: string } => ({
  key: readFileSync(at(`${turn}.key`), 'utf8'),
  cert: readFileSync(at(`${turn}.cert`), 'utf8'),
});
const check = () => checkIdentity(paths, 'node-1');

beforeAll(async () => {
  const authority = await makeAuthority('Node CA');
  for (let turn = 0; turn < 2 * perProcess; turn += 1) {
    const { key, csr } = await makeCertificateRequest('node-1');
    writeFileSync(at(`${turn}.key`), key);
    writeFileSync(at(`${turn}.cert`), await issueNode(authority, 'node-1', csr));
  }
});
beforeEach(() => {
  for (const name of readdirSync(folder).filter((file) => /^(cert|key)\.pem/.test(file)))
    rmSync(at(name), { force: true });
  writeFileSync(paths.certPath, given(0).cert);
  writeFileSync(paths.keyPath, given(0).key);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('two processes that replace it, and one that looks all the while: never a pair of two halves', async () => {
  let ended = false;
  const replaced = Promise.all(
    [0, perProcess].map((first) =>
      execa('node', [script, folder, String(first), String(perProcess)]),
    ),
  );
  const whenEnded = replaced.finally(() => {
    ended = true;
  });
  whenEnded.catch(() => {});
  const seen = new Set<string>();
  const states = new Set<string>();
  // However slow the machine is, it looks until it has seen most of them.
  for (let looks = 0; !ended && (looks < 500 || seen.size <= perProcess); looks += 1) {
    const found = check();
    states.add(found.state);
    if (found.identity) seen.add(found.identity.certificate.serialNumber);
    await setImmediate();
  }
  writeFileSync(at('enough'), '');
  await whenEnded;
  expect([...states]).toEqual(['good']);
  expect(seen.size).toBeGreaterThan(perProcess);
  const last = {
    key: readFileSync(paths.keyPath, 'utf8'),
    cert: readFileSync(paths.certPath, 'utf8'),
  };
  expect(Array.from({ length: 2 * perProcess }, (_, turn) => given(turn))).toContainEqual(last);
  expect(readdirSync(folder).filter((file) => /next|coming|claim|tmp/.test(file))).toEqual([]);
});

test('while one has the right to, another is told so, and may when it was given back', () => {
  const first = makeRoom(paths, given(1).key);
  expect(() => makeRoom(paths, given(2).key)).toThrow(expect.objectContaining({ code: 'EBUSY' }));
  first.giveBack();
  const second = makeRoom(paths, given(2).key);
  second.save(given(2).cert);
  second.giveBack();
  expect(check().identity?.cert).toBe(given(2).cert);
});

const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
const beganAt = (pid: number | string): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]!;

test.each([
  ['a process that is gone', `4194305.1.${boot}`],
  ['another process with its number', `${process.pid}.1.${boot}`],
  [
    'one before the reboot',
    `${process.pid}.${beganAt(process.pid)}.00000000-0000-4000-8000-000000000000`,
  ],
])('the claim of %s is void', (_whose, text) => {
  symlinkSync(text, at('key.pem.claim'));
  const giveBack = claim(at('key.pem.claim'));
  expect(claim(at('key.pem.claim'))).toBeNull();
  giveBack?.();
  expect(readdirSync(folder)).not.toContain('key.pem.claim');
});

test('the claim of a process that nobody has buried yet is void', async () => {
  // The child ends at once; its parent has become a program that never asks after it.
  const parent = spawn('sh', ['-c', 'true & exec sleep 30']);
  const child = await vi.waitFor(() => {
    const pid = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').trim();
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
    return pid;
  });
  symlinkSync(`${child}.${beganAt(child)}.${boot}`, at('key.pem.claim'));
  const giveBack = claim(at('key.pem.claim'));
  expect(giveBack).not.toBeNull();
  giveBack?.();
  parent.kill('SIGKILL');
});

test('between the two renames the new pair is used, and finished only when nobody is at it', () => {
  const giveBack = claim(at('key.pem.claim'));
  writeFileSync(paths.certPath, given(1).cert);
  writeFileSync(at('key.pem.next'), given(1).key);
  expect(check()).toMatchObject({
    state: 'good',
    identity: { cert: given(1).cert, key: given(1).key },
  });
  expect(existsSync(at('key.pem.next'))).toBe(true);
  giveBack?.();
  expect(check()).toMatchObject({ state: 'good', identity: given(1) });
  expect(existsSync(at('key.pem.next'))).toBe(false);
  expect(readFileSync(paths.keyPath, 'utf8')).toBe(given(1).key);
});

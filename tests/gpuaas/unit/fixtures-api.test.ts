import { generateKeyPairSync } from 'node:crypto';
import { utils } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { bearer, mayRead, mayUse } from '../../../fixtures/gpuaas/api/accounts.ts';
import type { AuditEntry } from '../../../fixtures/gpuaas/api/audit.ts';
import { dedupeKey } from '../../../fixtures/gpuaas/api/audit.ts';
import { observedApp } from '../../../fixtures/gpuaas/api/results.ts';
import {
  correlationIdFrom,
  isCorrelationId,
  makeCorrelationId,
} from '../../../fixtures/gpuaas/contract/correlation.ts';
import {
  brokenRelations,
  loadOrderRelations,
} from '../../../fixtures/gpuaas/contract/order-relations.ts';
import { loadPolicies, parsePolicies } from '../../../fixtures/gpuaas/contract/policies.ts';
import { openToken, signToken } from '../../../fixtures/gpuaas/contract/signed-token.ts';
import {
  rawPublicKey,
  signTask,
  verifierEntry,
  verifyTask,
} from '../../../fixtures/gpuaas/contract/task-payload.ts';
import { makeSshKey } from '../../../fixtures/gpuaas/pki/openssh.ts';

describe('policies', () => {
  it.each(['fast', 'seed-defaults'])('%s keeps every order relation', (profile) => {
    const relations = loadOrderRelations();
    expect(relations.length).toBeGreaterThan(10);
    expect(brokenRelations(loadPolicies(profile), relations)).toEqual([]);
  });
  it('names the relation that a changed value breaks', () => {
    const changed = { ...loadPolicies('fast'), 'node.poll_window_seconds': 4 };
    expect(brokenRelations(changed, loadOrderRelations()).join()).toContain(
      'one lost beat is no outage',
    );
  });
  it.each(['nonsense', 'node.other: 1', 'node.poll_window_seconds: soon'])(
    'refuses a file with %j',
    (text) => {
      expect(() => parsePolicies(text)).toThrow(/policy line|unknown|missing/);
    },
  );
});

describe('correlation ids', () => {
  it('takes a well-formed one over and replaces any other', () => {
    expect(correlationIdFrom('run-1234.x_y')).toBe('run-1234.x_y');
    for (const bad of [
      'short',
      'has space in it',
      'x'.repeat(81),
      undefined,
      7,
      ['a-list-of-ids'],
    ]) {
      expect(correlationIdFrom(bad)).not.toBe(bad);
      expect(isCorrelationId(correlationIdFrom(bad))).toBe(true);
    }
    expect(makeCorrelationId()).not.toBe(makeCorrelationId());
  });
});

describe('signed tasks', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const task = {
    task_id: 'task-1',
    node_id: 'node-1',
    task_type: 'diag.health_probe',
    params: { a: 1 },
    issued_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T00:00:30.000Z',
    correlation_id: 'c-12345678',
  };
  it('sign the exact payload and bind the node', () => {
    const signed = signTask(task, privateKey);
    expect(JSON.parse(signed.payload)).toEqual(task);
    expect(verifyTask(signed, publicKey)).toBe(true);
    expect(
      verifyTask({ ...signed, payload: signed.payload.replace('node-1', 'node-2') }, publicKey),
    ).toBe(false);
  });
  it('name their key by the key itself', () => {
    const [keyId, raw] = verifierEntry(publicKey).split(':');
    expect(signTask(task, privateKey).key_id).toBe(keyId);
    expect(Buffer.from(raw ?? '', 'base64')).toEqual(rawPublicKey(privateKey));
  });
});

describe('signed tokens', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  it('open with their key only', () => {
    const token = signToken({ sid: 'ts-1' }, privateKey);
    expect(openToken(token, publicKey)).toEqual({ sid: 'ts-1' });
    expect(openToken(token, generateKeyPairSync('ed25519').publicKey)).toBeNull();
    for (const bad of ['', 'a.b', `${token}.x`, `x${token}`])
      expect(openToken(bad, publicKey)).toBeNull();
  });
});

describe('audit dedupe', () => {
  const entry: AuditEntry = {
    actorType: 'user',
    actorId: 'user-b',
    action: 'terminal.token',
    target: 'alloc-1',
    result: 'denied',
    reason: 'forbidden',
    correlationId: 'c-12345678',
  };
  it('merges the same refusal, whatever the request', () => {
    expect(dedupeKey({ ...entry, correlationId: 'c-87654321' })).toBe(dedupeKey(entry));
  });
  it.each([
    { actorId: 'x' },
    { action: 'x' },
    { reason: 'x' },
    { target: 'x' },
    { credentialId: 'x' },
    { appInstanceId: 'x' },
  ])('keeps %j apart', (change) => {
    expect(dedupeKey({ ...entry, ...change })).not.toBe(dedupeKey(entry));
  });
  it('never merges an enqueue or anything accepted', () => {
    expect(dedupeKey({ ...entry, action: 'task.enqueue' })).toBeNull();
    expect(dedupeKey({ ...entry, result: 'accepted' })).toBeNull();
  });
});

describe('access', () => {
  const member = { id: 'u', kind: 'user', roles: { 'proj-a': 'member' } } as const;
  const viewer = { id: 'v', kind: 'user', roles: { 'proj-a': 'viewer' } } as const;
  const operator = { id: 'o', kind: 'operator', roles: {} } as const;
  it('lets members use, viewers and operators read, and others nothing', () => {
    expect(
      [member, viewer, operator].map((account) => [
        mayRead(account, 'proj-a'),
        mayUse(account, 'proj-a'),
      ]),
    ).toEqual([
      [true, true],
      [true, false],
      [true, false],
    ]);
    expect(mayRead(member, 'proj-b')).toBe(false);
  });
  it('reads bearer tokens strictly', () => {
    expect(bearer('Bearer abcdefgh')).toBe('abcdefgh');
    for (const bad of [undefined, 'abcdefgh', 'Basic abcdefgh', 'Bearer a b', 'Bearer '])
      expect(bearer(bad)).toBeNull();
  });
});

describe('application probes', () => {
  it.each([
    [{ status: 'running' }, 'running'],
    [{ running: false }, 'failed'],
    [{ state: 'exited' }, 'failed'],
    [{}, null],
  ])('%j says %s', (result, expected) => {
    expect(observedApp(result)).toBe(expected);
  });
});

describe('ssh keys', () => {
  it('can be read, with any length of padding', () => {
    for (let length = 0; length < 16; length += 1) {
      const made = makeSshKey('x'.repeat(length));
      const key = utils.parseKey(made.privateKey);
      if (key instanceof Error) throw key;
      expect(key.getPublicSSH().toString('base64')).toBe(made.publicKey.split(' ')[1]);
      expect(key.verify('data', key.sign('data'))).toBe(true);
    }
  });
});

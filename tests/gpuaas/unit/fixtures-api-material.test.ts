import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openMaterial } from '../../../fixtures/gpuaas/api/material.ts';
import { signTask, verifierEntry } from '../../../fixtures/gpuaas/contract/task-payload.ts';
import { parseVerifiers } from '../../../fixtures/gpuaas/node-agent/settings.ts';
import { verify } from '../../../fixtures/gpuaas/node-agent/verify.ts';

const folder = mkdtempSync(join(tmpdir(), 'api-material-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('lets a node verify with the next task key before it signs, and after', () => {
  const keys = [
    generateKeyPairSync('ed25519').privateKey,
    generateKeyPairSync('ed25519').privateKey,
  ] as const;
  const material = openMaterial(folder);
  const signWith = (key: (typeof keys)[number]) =>
    writeFileSync(join(folder, 'task-signing.key'), key.export({ type: 'pkcs8', format: 'pem' }));
  const accepted = (verifiers: string): boolean => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const about = {
      task_id: 'task-1',
      node_id: 'node-1',
      task_type: 'diag.health_probe',
      params: {},
      issued_at: expires_at,
    };
    const task = signTask(
      { ...about, expires_at, correlation_id: 'c-12345678' },
      material.taskKey(),
    );
    return 'task' in verify(task, parseVerifiers(verifiers), 'node-1');
  };
  signWith(keys[0]);
  const before = material.verifiers();
  expect(before).toBe(verifierEntry(keys[0]));
  writeFileSync(join(folder, 'task-signing-pubkeys'), `${keys.map(verifierEntry).join('\n')}\n`);
  const overlap = material.verifiers();
  expect([accepted(before), accepted(overlap)]).toEqual([true, true]);
  signWith(keys[1]);
  expect([accepted(before), accepted(overlap)]).toEqual([false, true]);
});

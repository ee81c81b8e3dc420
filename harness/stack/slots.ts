// Picks a free slot and writes it down at once, under a lock, so that two `up` at the same time do
// not take the same.

import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Addresses, addressesOf, slotCount, slotIsClear } from './addresses.ts';
import { takenSubnets } from './engine.ts';
import { exclusively } from './exclusively.ts';
import { stacksDir } from './names.ts';
import type { StackFile } from './read-declaration.ts';
import { listStacks, type StackState, writeState } from './state.ts';

/** A port is free when we can listen on it, and no other moment is a better witness. */
function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}

async function portsAreFree({ port }: Addresses): Promise<boolean> {
  const free = await Promise.all(Object.values(port).map(portIsFree));
  return free.every(Boolean);
}

async function firstFree(file: StackFile): Promise<Addresses> {
  const subnets = await takenSubnets();
  const reserved = new Set(listStacks().map((stack) => stack.slot));
  for (let slot = 0; slot < slotCount; slot += 1) {
    const addresses = addressesOf(slot, file);
    if (reserved.has(slot) || !slotIsClear(addresses, subnets)) continue;
    if (await portsAreFree(addresses)) return addresses;
  }
  throw new Error(
    `all ${slotCount} places for a stack are taken; see "hopdrill status", and "hopdrill down --all"`,
  );
}

export async function reserveSlot(
  state: Omit<StackState, keyof Addresses>,
  file: StackFile,
): Promise<Addresses> {
  mkdirSync(stacksDir(), { recursive: true, mode: 0o700 });
  return exclusively(
    async () => {
      const addresses = await firstFree(file);
      writeState({ ...state, ...addresses });
      return addresses;
    },
    join(stacksDir(), '.lock'),
    'stack slot',
  );
}

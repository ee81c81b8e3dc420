// As a process of its own: `node replace-identity.ts <folder> <first> <count>` puts pairs in place,
// one after the other and round and round, whenever it is free to, until there is a file `enough`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUSY, makeRoom } from '../../../fixtures/gpuaas/node-agent/identity.ts';

const [folder = '', first = '0', count = '0'] = process.argv.slice(2);
const paths = { certPath: join(folder, 'cert.pem'), keyPath: join(folder, 'key.pem') };
const given = (name: string, turn: number): string =>
  readFileSync(join(folder, `${Number(first) + turn}.${name}`), 'utf8');

async function place(turn: number): Promise<void> {
  try {
    const room = makeRoom(paths, given('key', turn));
    await sleep(1);
    room.save(given('cert', turn));
    room.giveBack();
  } catch (error) {
    if ((error as { code?: unknown }).code !== BUSY) throw error;
    await sleep(1);
    await place(turn);
  }
}

for (let turn = 0; !existsSync(join(folder, 'enough')); turn += 1)
  await place(turn % Number(count));

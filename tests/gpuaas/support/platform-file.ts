import { readStackFile, type StackFile } from '../../../harness/stack/read-declaration.ts';
import { stackFileOf } from '../../../harness/systems/index.ts';

/** The compose file of the platform under test, as `up` reads it. */
export async function platformFile(system = 'gpuaas'): Promise<StackFile> {
  const file = await stackFileOf(system);
  if (file === null) throw new Error(`${system} names no compose file`);
  return readStackFile(file);
}

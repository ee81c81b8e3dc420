// What is measured on: stacks and the smallest system, brought up when first needed and taken down
// at the end, whatever happens.
import type { Profile } from '../../harness/records/profile.ts';
import { loadProfile, profileFileOf } from '../../harness/stack/state.ts';
import { command, hopdrill } from './processes.ts';

interface Place {
  readonly profile: Profile;
  readonly file: string;
  readonly stack: string;
}

export interface Places {
  gpuaas(): Promise<Place>;
  oneHop(): Promise<Place>;
  close(): Promise<void>;
}

export function places(given: string | undefined, say: (text: string) => void): Places {
  const closing: (() => Promise<unknown>)[] = [];
  const place = (stack: string): Place => ({
    ...{ profile: loadProfile(stack), file: profileFileOf(stack), stack },
  });
  const bringUp = async (system: string): Promise<Place> => {
    const stack = `bench-${system}-${process.pid}`;
    say(`bringing up stack ${stack}`);
    closing.push(() => command(hopdrill, ['down', '--stack', stack]));
    await command(hopdrill, ['up', '--system', system, '--stack', stack]);
    return place(stack);
  };
  const gpuaas = async () => (given === undefined ? bringUp('gpuaas') : place(given));
  const oneHop = () => bringUp('one-hop');
  return {
    gpuaas: once(gpuaas),
    oneHop: once(oneHop),
    close: async () => {
      for (const close of closing.reverse())
        await close().catch((error: unknown) => say(`left over: ${String(error)}`));
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

// A person with a browser in front of the console.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ConsolePage,
  openConsole,
} from '../../../harness/systems/gpuaas/probe/console-page.ts';
import type { World } from './world.ts';

export const pictures = join(import.meta.dirname, '../../..', 'reports', 'out');

interface Person {
  readonly minted?: { token: string; correlationId: string };
  readonly signsIn?: boolean;
}

export async function atConsole(
  world: World,
  node: string,
  { minted, signsIn = true }: Person = {},
): Promise<ConsolePage> {
  const { stack, endpoints, credentials } = world.profile;
  const { browser, console: consoleBase } = endpoints;
  if (!browser) throw new Error(`stack ${stack} has no browser (hopdrill up --browser)`);
  if (!consoleBase) throw new Error('the profile names no console');
  mkdirSync(pictures, { recursive: true });
  return openConsole({
    cdpUrl: browser,
    consoleBase,
    allocation: world.allocationOf(node),
    ...(signsIn && { userToken: world.userToken }),
    edgeCookie: `gpuaas_edge=${world.secret(credentials['edge-cookie'])}`,
    ...(minted && { minted }),
  });
}

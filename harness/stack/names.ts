// What a stack is called, and where its state lies. Everything of a stack is found again by its
// label.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateDir } from './bootstrap/machine.mjs';

export const stackLabel = 'dev.hopdrill.stack';

/** A name goes into container names, labels and paths. */
export const isStackName = (name: string): boolean => /^[a-z][a-z0-9-]{0,30}$/.test(name);

export const projectOf = (stack: string): string => `hopdrill-${stack}`;

export const containerOf = (stack: string, service: string): string =>
  `${projectOf(stack)}-${service}-1`;

export const stacksDir = (): string => join(stateDir(), 'stacks');

export function stackDir(stack: string): string {
  if (!isStackName(stack))
    throw new Error(`not a stack name: ${stack} (a letter, then letters, digits and dashes)`);
  return join(stacksDir(), stack);
}

/** Stacks that have state on this machine, running or not. */
export function stacksWithState(): string[] {
  if (!existsSync(stacksDir())) return [];
  return readdirSync(stacksDir(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isStackName(entry.name))
    .map((entry) => entry.name)
    .sort();
}

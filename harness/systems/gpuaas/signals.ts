// The dashboard names of seed 000: owner and next action in its words, causes of ours, and how soon
// each must be given.
import type { Signal } from '../../preflight/types.ts';
import { advice } from './advice.ts';
import { nodeSignals } from './signals-node.ts';
import { terminalSignals } from './signals-terminal.ts';

const known: Readonly<Record<string, Signal>> = { ...nodeSignals, ...terminalSignals };

export const signals: Readonly<Record<string, Signal>> = Object.fromEntries(
  Object.entries(known).map(([name, signal]) => [
    name,
    advice[name] === undefined ? signal : { ...signal, advice: advice[name] },
  ]),
);

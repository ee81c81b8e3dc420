import type { View } from '../../view.ts';
import { allocationApp } from './allocation.ts';
import { http, report } from './asked.ts';
import { effect, log } from './lines.ts';
import { node, nodeCounters, nodeNames, tasks } from './node.ts';
import { audit, history, task } from './records.ts';
import { terminal } from './terminal.ts';
import { trust } from './trust.ts';
import { user } from './user.ts';

/** All that a run reads of this platform and compares. */
export const views: Readonly<Record<string, View>> = {
  node,
  'node.counters': nodeCounters,
  'node.names': nodeNames,
  tasks,
  task,
  'allocation.app': allocationApp,
  audit,
  history,
  trust,
  http,
  terminal,
  user,
  effect,
  log,
  report,
};

/**
 * Runs one action on its target, whoever asks: the engine, `hopdrill undo`, the watchdog. Drivers
 * are loaded when first needed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DockerDriver } from '../drivers/docker.ts';
import { DriverError, isDriverError } from '../drivers/errors.ts';
import type { ToxiproxyDriver } from '../drivers/toxiproxy.ts';
import type {
  Action,
  ActionResult,
  DatabaseAction,
  DockerAction,
  ToxiproxyAction,
} from '../records/action.ts';
import type { Targets } from '../records/ledger.ts';
import { type Outcome, openNodes, type RunOptions } from './reach-nodes.ts';

export interface Executor {
  run(action: Action, options?: RunOptions): Promise<ActionResult>;
  /** `argv` as root on a node. */
  onNode(
    node: string,
    argv: readonly string[],
    options?: RunOptions & { stdin?: string },
  ): Promise<ActionResult>;
  docker(): Promise<DockerDriver>;
  /** Whether `node` answered over SSH when it was last asked. */
  readonly viaLifeline: ReadonlySet<string>;
  close(): void;
}

export function createExecutor(targets: Targets): Executor {
  const nodes = openNodes(targets, () => docker());
  let dockerDriver: Promise<DockerDriver> | undefined;
  let toxiproxyDriver: Promise<ToxiproxyDriver> | undefined;
  const docker = (): Promise<DockerDriver> =>
    (dockerDriver ??= import('../drivers/docker.ts').then(({ openDocker }) => openDocker()));
  const toxiproxy = (): Promise<ToxiproxyDriver> => {
    const url = targets.toxiproxy?.url;
    if (url === undefined)
      throw new DriverError('toxiproxy', 'bad_request', 'the profile names no toxiproxy');
    toxiproxyDriver ??= import('../drivers/toxiproxy.ts').then(({ openToxiproxy }) =>
      openToxiproxy(url),
    );
    return toxiproxyDriver;
  };
  const timed = async (work: () => Promise<Outcome>): Promise<ActionResult> => {
    const start = performance.now();
    return { ...(await work()), ms: performance.now() - start };
  };
  return {
    run: (action, options = {}) =>
      timed(async () => {
        if (action.kind === 'sh')
          return nodes.exec(action.node, action.argv, {
            ...options,
            ...(action.stdin === undefined ? {} : { stdin: action.stdin }),
          });
        if (action.kind === 'docker')
          return runDocker(await docker(), containerOf(targets, action.part), action, options);
        if (action.kind === 'database') return runDatabase(targets.database, action);
        if (action.kind === 'http') return (await import('./run-http.ts')).runHttp(targets, action);
        return runToxiproxy(await toxiproxy(), action);
      }),
    onNode: (node, argv, options = {}) => timed(() => nodes.exec(node, argv, options)),
    docker,
    viaLifeline: nodes.viaLifeline,
    close: () => nodes.close(),
  };
}

function containerOf(targets: Targets, part: string): string {
  const lifeline = targets.nodes[part]?.lifeline;
  const container =
    targets.parts[part]?.container ??
    (lifeline?.kind === 'docker' ? lifeline.container : undefined);
  if (container === undefined)
    throw new DriverError(
      'docker',
      'missing',
      `the profile names no part ${part} (${Object.keys(targets.parts).join(', ')})`,
    );
  return container;
}

const said = (stdout: string, code = 0): Outcome => ({ code, stdout, stderr: '' });

async function runDocker(
  docker: DockerDriver,
  container: string,
  action: DockerAction,
  options: RunOptions,
): Promise<Outcome> {
  if (action.afterMs !== undefined) await sleep(action.afterMs);
  switch (action.verb) {
    case 'exec':
      return execInPart(docker, container, action, options);
    case 'inspect': {
      const { status } = await docker.inspect(container);
      return said(`${status}\n`, action.expect === undefined || action.expect === status ? 0 : 1);
    }
    case 'pause':
    case 'unpause': {
      // The engine calls a second pause a conflict; an undo may run twice.
      const paused = (await docker.inspect(container)).status === 'paused';
      if (paused !== (action.verb === 'pause')) await docker[action.verb](container);
      return said('');
    }
    case 'kill':
      if ((await docker.inspect(container)).status !== 'stopped')
        await docker.kill(container, action.signal);
      return said('');
    case 'stop':
    case 'start':
    case 'restart':
      await docker[action.verb](container);
      return said('');
  }
}

/** A part that is just starting refuses commands for a moment. */
async function execInPart(
  docker: DockerDriver,
  container: string,
  action: DockerAction,
  options: RunOptions,
): Promise<Outcome> {
  const timeoutMs = options.timeoutMs ?? 20_000;
  const run = (): Promise<Outcome> =>
    docker.exec(container, action.argv ?? [], {
      timeoutMs,
      ...(action.stdin === undefined ? {} : { stdin: action.stdin }),
    });
  try {
    return await run();
  } catch (error) {
    if (!isDriverError(error) || error.status !== 409) throw error;
    await sleep(300);
    return run();
  }
}

async function runDatabase(
  database: Targets['database'],
  { verb, slot }: DatabaseAction,
): Promise<Outcome> {
  if (database === undefined)
    throw new DriverError('database', 'bad_request', 'the profile names no database');
  const { openDbSlots } = await import('../drivers/db-slots.ts');
  const slots = openDbSlots(database);
  try {
    const there = await onceItAnswers(async () => (await slots.list()).map(({ name }) => name));
    if (verb === 'create-slot') await slots.create(slot);
    if (verb === 'drop-slot') await slots.drop(slot);
    return said(there.includes(slot) ? 'there\n' : 'absent\n');
  } finally {
    await slots.close();
  }
}

/** A database that was just started lets nobody in for a moment. */
async function onceItAnswers<T>(ask: () => Promise<T>, withinMs = 6000): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDriverError(error) || error.code !== 'unreachable' || performance.now() > until)
        throw error;
      await sleep(200);
    }
  }
}

async function runToxiproxy(toxiproxy: ToxiproxyDriver, action: ToxiproxyAction): Promise<Outcome> {
  const { proxy, verb } = action;
  const name = action.toxicName ?? action.toxic?.name ?? '';
  if (verb === 'add-toxic') {
    if (action.toxic === undefined)
      throw new DriverError('toxiproxy', 'bad_request', 'add-toxic without a toxic');
    await toxiproxy.addToxic(proxy, action.toxic);
    return said('');
  }
  if (verb === 'remove-toxic') return said('', (await toxiproxy.removeToxic(proxy, name)) ? 0 : 1);
  if (verb === 'enable' || verb === 'disable')
    return said('', (await toxiproxy.setEnabled(proxy, verb === 'enable')) ? 0 : 1);
  const state = await toxiproxy.read(proxy);
  const toxic = state.toxics.some((one) => one.name === name);
  const truth = { toxic, 'no-toxic': !toxic, enabled: state.enabled, disabled: !state.enabled };
  const toxics = state.toxics.map((one) => JSON.stringify(one)).sort();
  return said(
    `${JSON.stringify({ enabled: state.enabled, toxics })}\n`,
    action.expect === undefined || truth[action.expect] ? 0 : 1,
  );
}

import { atConsole } from './person.ts';
import type { Source, Witness } from './row.ts';
import type { Json, World } from './world.ts';

export const readModel = (
  name: string,
  holds: (model: Json) => boolean,
  node = 'node-1',
): Witness => ({
  name: `read model: ${name}`,
  source: 'read model',
  says: async (world) => {
    const model = await world.readModel(node).catch(() => null);
    return model !== null && model.node_id !== undefined && holds(model);
  },
});
export const history = (
  name: string,
  holds: (event: Json) => boolean,
  node = 'node-1',
): Witness => ({
  name: `history: ${name}`,
  source: 'read model',
  says: async (world, since) => (await world.history(node, since).catch(() => [])).some(holds),
});
export const journal = (pattern: RegExp, node = 'node-1'): Witness => ({
  name: `journal: ${pattern}`,
  source: 'agent',
  says: async (world, since) => pattern.test(await world.journal(node, since)),
});
/** What systemd itself notes about the agent's unit. */
export const systemd = (pattern: RegExp, node = 'node-1'): Witness => ({
  name: `systemd: ${pattern}`,
  source: 'systemd',
  says: async (world, since) => pattern.test(await world.systemdNotes(node, since)),
});
/** The agent's own record: what is wrong now, and was written after the given moment. */
export const diagnostic = (
  name: string,
  holds: (current: Json, record: Json) => boolean,
  node = 'node-1',
): Witness => ({
  name: `diagnostic record: ${name}`,
  source: 'agent',
  says: async (world) => {
    const record = await world.diagnostic(node).catch(() => null);
    return Boolean(record?.current) && holds(record.current, record);
  },
});
/**
 * What the platform makes of the record of a node that cannot send it, once an operator has
 * attached it.
 */
export const attached = (
  name: string,
  holds: (model: Json) => boolean,
  node = 'node-1',
): Witness => ({
  name: `read model with the record attached: ${name}`,
  source: 'read model',
  says: async (world) => {
    const record = await world.diagnostic(node).catch(() => null);
    if (!record?.current) return false;
    const taken = await world.api(
      'POST',
      `/v1/nodes/${node}/evidence`,
      world.operatorToken,
      record,
    );
    return taken.status === 202 && holds(await world.readModel(node));
  },
});
export const log = (
  part: 'api' | 'edge' | 'gateway' | 'ingress' | 'links',
  pattern: RegExp,
): Witness => ({
  name: `${part} log: ${pattern}`,
  source: part,
  says: async (world, since) => pattern.test(await world.log(part, since)),
});
/** What a user who opens a terminal is told; a refusal may be the edge's own. */
export const terminal = (code: RegExp, source: 'gateway' | 'edge' = 'gateway'): Witness => ({
  name: `terminal: ${code}`,
  source,
  says: async (world) => code.test((await world.tryTerminal('node-1')).code),
});
/** What the page in a real browser tells a user who opens a terminal. */
export const page = (code: string): Witness => ({
  name: `user page: ${code}`,
  source: 'page',
  says: async (world) => {
    const shown = await atConsole(world, 'node-1');
    try {
      const end = await shown.waitFor(
        (state) => state.code !== '' || state.state === 'ready',
        20_000,
      );
      return end?.code === code;
    } finally {
      await shown.close();
    }
  },
});
/** The gateway's own observations of a session that is tried now. */
export const observed = (
  name: string,
  holds: (events: Json[]) => boolean,
  node = 'node-1',
): Witness => ({
  name: `gateway observation: ${name}`,
  source: 'gateway',
  says: async (world) => {
    const attempt = await world.tryTerminal(node);
    return attempt.sessionId !== null && holds(await world.observations(attempt.sessionId));
  },
});
/** Another program on the node that meets the same trouble. */
export const nodeSays = (
  name: string,
  line: string,
  pattern: RegExp,
  node = 'node-1',
): Witness => ({
  name: `node: ${name}`,
  source: 'probe',
  says: async (world) => {
    const ran = await world.inside(node, line);
    return pattern.test(`${ran.out}\n${ran.err}`);
  },
});
export const by = (
  source: Source,
  name: string,
  ask: (world: World, since: Date) => Promise<boolean>,
): Witness => ({
  name,
  source,
  says: (world, since) => ask(world, since).catch(() => false),
});
export const answers = (
  name: string,
  ask: (world: World, since: Date) => Promise<boolean>,
): Witness => by('probe', name, ask);
/** The answer of the public host, which may be the edge's own. */
export const apiSays = (status: number, code: string, source: 'api' | 'edge'): Witness =>
  by(source, `API: ${status} ${code}`, async (world) => {
    const got = await world.api('GET', '/healthz', null);
    return got.status === status && (code === '' || got.json?.error?.code === code);
  });

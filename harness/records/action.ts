import { z } from 'zod';

/**
 * Everything hopdrill does to a target is one of these records: serialisable, so that the normal
 * undo, `hopdrill undo`, the dead-man on a node and the watchdog of a stack all run the very same
 * list.
 */
const text = z.string();

/**
 * A program with its arguments, run as root on a node. `{snapshot:NAME}` in argv or stdin is
 * replaced by what the snapshot step of that name printed.
 */
export const shAction = z.strictObject({
  kind: z.literal('sh'),
  node: text,
  argv: z.array(text).min(1),
  stdin: text.optional(),
  /** Exit codes that mean success; anything else is an error of the action. */
  okCodes: z.array(z.number().int()).default([0]),
});

/** One verb of the engine on one container. */
export const dockerAction = z.strictObject({
  kind: z.literal('docker'),
  /** Its name in the profile (`api`, `edge`), not the container's; or a node that is a container. */
  part: text,
  verb: z.enum(['stop', 'start', 'pause', 'unpause', 'restart', 'kill', 'exec', 'inspect']),
  argv: z.array(text).optional(),
  stdin: text.optional(),
  signal: text.optional(),
  /** Waits so long first. */
  afterMs: z.number().optional(),
  /** With `inspect`: code 0 when the container is in this state, 1 when it is in another. */
  expect: z.enum(['running', 'paused', 'stopped']).optional(),
  okCodes: z.array(z.number().int()).default([0]),
});

/** One change of one toxic or proxy. */
export const toxiproxyAction = z.strictObject({
  kind: z.literal('toxiproxy'),
  proxy: text,
  verb: z.enum(['add-toxic', 'remove-toxic', 'disable', 'enable', 'read']),
  toxic: z
    .strictObject({
      name: text,
      type: text,
      stream: z.enum(['upstream', 'downstream']),
      toxicity: z.number().min(0).max(1),
      attributes: z.record(text, z.number()),
    })
    .optional(),
  toxicName: text.optional(),
  /** With `read`: code 0 when it is so, 1 when it is not. */
  expect: z.enum(['toxic', 'no-toxic', 'enabled', 'disabled']).optional(),
});

/** One replication slot of ours at the platform's database. */
export const databaseAction = z.strictObject({
  kind: z.literal('database'),
  verb: z.enum(['create-slot', 'drop-slot', 'read-slot']),
  slot: text,
});

/**
 * One request to the platform, as one of its operators would make it. Address and token are named
 * as in the profile; a secret never stands here.
 */
export const httpAction = z.strictObject({
  kind: z.literal('http'),
  endpoint: text,
  credential: text.optional(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: text.regex(/^\//),
  body: z.record(text, z.unknown()).optional(),
  /** Answers that mean success; any other is an error of the action. */
  okStatus: z.array(z.number().int()).default([200, 201, 202, 204]),
  /** The key of the JSON answer whose value is printed; the whole answer when left out. */
  print: text.optional(),
  /** Code 0 when this is printed, 1 when something else is. */
  expect: text.optional(),
});

export const action = z.discriminatedUnion('kind', [
  shAction,
  dockerAction,
  toxiproxyAction,
  databaseAction,
  httpAction,
]);
export type Action = z.infer<typeof action>;
export type ShAction = z.infer<typeof shAction>;
export type DockerAction = z.infer<typeof dockerAction>;
export type ToxiproxyAction = z.infer<typeof toxiproxyAction>;
export type HttpAction = z.infer<typeof httpAction>;
export type DatabaseAction = z.infer<typeof databaseAction>;

/** Exit codes that mean success. */
export const okCodesOf = (action: Action): readonly number[] =>
  'okCodes' in action ? action.okCodes : [0];

/** What came of running one action. */
export interface ActionResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

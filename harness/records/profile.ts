import { z } from 'zod';

/** How the runner reaches a node when everything that a fault may cut is cut. */
const lifeline = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('docker'), container: z.string() }),
  z.strictObject({ kind: z.literal('ssh'), host: z.string(), port: z.number().int() }),
]);

const ssh = z.strictObject({
  host: z.string(),
  port: z.number().int().default(22),
  user: z.string(),
  keyFile: z.string(),
  knownHostsFile: z.string(),
});

/** Facts that only the system understands; it checks them by a schema of its own. */
const own = z.record(z.string(), z.unknown()).default({});

const node = z.strictObject({
  /** Left out for a node that has no SSH, a container say. */
  ssh: ssh.optional(),
  lifeline,
  /** The service that runs on the node for the platform: what faults mean by `agent`. */
  agent: z.strictObject({ unit: z.string(), user: z.string() }).optional(),
  own,
});

const part = z.strictObject({ container: z.string() });

/** An address that no run may touch; when it stops answering, the run ends and is undone. */
const guard = z.strictObject({
  name: z.string(),
  url: z.url({ protocol: /^https?$/ }),
  status: z.number().int().default(200),
  /** Address to connect to instead of what the name resolves to. */
  resolveAddress: z.string().optional(),
  caFile: z.string().optional(),
});
export type GuardProfile = z.infer<typeof guard>;

const watched = z.strictObject({
  host: z.string(),
  port: z.number().int(),
  name: z.string(),
  user: z.string(),
  passwordFile: z.string(),
  /** The part in which it runs, so that a fault there is known to end the audit's session. */
  part: z.string().optional(),
  /** Who may write: the platform's own services. */
  writers: z.array(
    z.strictObject({ role: z.string(), address: z.string(), application: z.string() }),
  ),
});
export type WatchedDatabase = z.infer<typeof watched>;

export const profileVersion = 2;

/**
 * One deployment: where it is, how to reach it, how to break and repair each part. `up` writes one
 * for its own stack; a user writes one for a platform that hopdrill did not start. Paths are
 * relative to the profile file.
 */
export const profile = z.strictObject({
  version: z.literal(profileVersion),
  system: z.string(),
  stack: z.string(),
  /** Targets that are not marked disposable are refused. */
  disposable: z.boolean(),
  /** What people call it, for plans and reports. */
  environment: z.string(),
  /** The numbers that the deployment lives by. */
  policies: z.record(z.string(), z.number()).default({}),
  /** Addresses, by the names of the system. */
  endpoints: z.record(z.string(), z.string()).default({}),
  /** Files that hold secrets, by the names of the system. */
  credentials: z.record(z.string(), z.string()).default({}),
  connect: z
    .strictObject({
      /** Address to connect to instead of what public names resolve to. */
      address: z.string().optional(),
      /** CA certificates for them. */
      caFile: z.string().optional(),
    })
    .default({}),
  nodes: z.record(z.string(), node).default({}),
  parts: z.record(z.string(), part).default({}),
  /** Toxiproxy's API, and the part that it runs in where that may be broken too. */
  links: z.strictObject({ toxiproxy: z.string(), part: z.string().optional() }).optional(),
  guard: z.array(guard).optional(),
  /**
   * `here`: a small process on the machine that runs hopdrill outlives a killed runner and puts
   * parts and links back. Without it they are not broken.
   */
  watchdog: z.literal('here').optional(),
  /** Watched, or said openly not to be: without either a run is inconclusive. */
  database: z.union([watched, z.strictObject({ notAudited: z.string() })]).optional(),
  own,
});
export type Profile = z.infer<typeof profile>;
export type NodeProfile = z.infer<typeof node>;
export type SshProfile = z.infer<typeof ssh>;

/** The database whose writes are audited; undefined when nobody watches one. */
export const watchedDatabase = ({ database }: Profile): WatchedDatabase | undefined =>
  database !== undefined && 'host' in database ? database : undefined;

import { z } from 'zod';

/** How the runner reaches a node when everything that a fault may cut is cut. */
const lifeline = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('docker'), container: z.string() }),
  z.strictObject({ kind: z.literal('ssh'), host: z.string(), port: z.number().int() }),
]);

const node = z.strictObject({
  sshHost: z.string(),
  sshPort: z.number().int(),
  sshUser: z.string(),
  knownHostsFile: z.string(),
  sshKeyFile: z.string(),
  /** The user that the agent runs as. */
  agentUser: z.string().default('gpuaas'),
  agentUnit: z.string().default('gpuaas-node-agent.service'),
  /** An active allocation on this node, used for terminal probes. */
  allocation: z.string(),
  allocationUser: z.string(),
  lifeline,
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

/**
 * One deployment: where it is, how to reach it, how to break and repair each part. `up` writes one
 * for its own stack; a user writes one for a platform that hopdrill did not start. Paths are
 * relative to the profile file.
 */
export const profile = z.strictObject({
  version: z.literal(1),
  system: z.string(),
  stack: z.string(),
  /** Targets that are not marked disposable are refused. */
  disposable: z.boolean(),
  environment: z.string(),
  policies: z.record(z.string(), z.number()).default({}),
  public: z
    .strictObject({
      apiBase: z.string(),
      terminalBase: z.string(),
      consoleBase: z.string().optional(),
      /** Address to connect to instead of what the public names resolve to. */
      resolveAddress: z.string().optional(),
      caFile: z.string().optional(),
    })
    .optional(),
  credentials: z
    .strictObject({
      operatorTokenFile: z.string().optional(),
      userTokenFile: z.string().optional(),
      edgeCookieFile: z.string().optional(),
    })
    .default({}),
  nodes: z.record(z.string(), node).default({}),
  parts: z.record(z.string(), part).default({}),
  toxiproxy: z.strictObject({ url: z.string() }).optional(),
  guard: z.array(guard).optional(),
  provider: z.strictObject({ url: z.string() }).optional(),
  /**
   * `here`: a small process on the machine that runs hopdrill outlives a killed runner and puts
   * parts and links back. Without it they are not broken.
   */
  watchdog: z.literal('here').optional(),
  browser: z.strictObject({ cdpUrl: z.string() }).optional(),
  /**
   * Said openly when there is no browser to look at the console; without it a scenario that expects
   * something of the page is inconclusive.
   */
  pageNotSeen: z.string().optional(),
  database: z
    .strictObject({
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
    })
    .optional(),
  /** Said openly when the database cannot be watched; without it such a run is inconclusive. */
  databaseNotAudited: z.string().optional(),
  /**
   * Any further addresses of a system with no nodes, e.g. one-hop's `{ service:
   * "http://127.0.0.1:1234/" }`.
   */
  endpoints: z.record(z.string(), z.string()).default({}),
});
export type Profile = z.infer<typeof profile>;
export type NodeProfile = z.infer<typeof node>;

// What a compose file says to hopdrill under its top-level `x-hopdrill`: all that `up` needs to know
// about a platform.
import { z } from 'zod';

/** What a stack's place on this machine has room for. */
export const networksPerSlot = 4;
export const portsPerSlot = 32;

const word = z.string().regex(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and dashes');
const variable = z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'the name of an environment variable');
/** Relative to the compose file. */
const path = z.string().min(1);

const ofEachImage = {
  /** The variable by which the compose file takes the tag. */
  tag: variable.optional(),
  /** Built only where this option is asked for. */
  option: word.optional(),
};

const image = z.union([
  z.strictObject({
    ...ofEachImage,
    dockerfile: path,
    context: path,
    /** Files and folders that decide the content: when one changes, the image is built again. */
    inputs: z.array(path).min(1),
    /** Build arguments that name an image: an earlier one of this file, or one of hopdrill's own. */
    from: z.record(variable, z.string()).default({}),
  }),
  z.strictObject({
    ...ofEachImage,
    /** Packages of the lock file with all that they need, and Node beside them, without a system. */
    packages: z.array(z.string()).min(1),
    /** The folder of the image in which the packages lie. */
    folder: z.string().startsWith('/'),
  }),
]);
export type ImageDeclaration = z.infer<typeof image>;

/** Something that a stack may be brought up with. */
const option = z.strictObject({
  help: z.string(),
  /** The compose profile that it switches on. */
  'compose-profile': z.string().optional(),
  /** What the deployment's profile says besides, with the option and without it. */
  with: z.record(z.string(), z.unknown()).default({}),
  without: z.record(z.string(), z.unknown()).default({}),
});

const named = (most: number, what: string) =>
  z
    .record(word, variable)
    .default({})
    .refine((map) => Object.keys(map).length <= most, { error: `at most ${most} ${what}` });

export const stackDeclaration = z.strictObject({
  /** Each gets a /24 of this machine, and the variable its first three numbers. */
  networks: named(networksPerSlot, 'networks'),
  /** Each gets a free port of the loopback address, and the variable its number. */
  ports: named(portsPerSlot, 'ports'),
  /** Sets of numbers that the platform can live by: name and file; the first one is the usual one. */
  policies: z.strictObject({ variable, sets: z.record(word, path) }).optional(),
  options: z.record(word, option).default({}),
  /** In the order in which they are built. */
  images: z.record(word, image).default({}),
  /** Folders of parts, as `part:/folder`, of which the files are copied beside the profile. */
  fetch: z.array(z.string().regex(/^[a-z0-9-]+:\/\S+$/, 'part:/folder')).default([]),
  /** Nodes with SSH, and the port of each: their host keys are asked for and pinned. */
  'ssh-nodes': z.record(word, word).default({}),
  /**
   * The profile of a deployment, without what `up` itself knows. `<port.NAME>`, `<network.NAME>` and
   * `<container.PART>` are replaced.
   */
  profile: z.record(z.string(), z.unknown()),
});
export type StackDeclaration = z.infer<typeof stackDeclaration>;

// argv to the request record. Every mistake is reported at once; nothing is read from disk here.
import { isIP } from 'node:net';
import { nearest } from '../base/nearest.ts';
import type { AnySystem, Flag, FlagValue, Request } from './types.ts';

/** Flags of the preflight itself; the rest is the system's. */
export const ownFlags: readonly Flag[] = [
  {
    name: 'profile',
    kind: 'file',
    help: 'profile file of a deployment; gives every address and credential, later flags win',
  },
  { name: 'stack', kind: 'text', help: 'the same of a stack that is up' },
  { name: 'node', kind: 'text', help: "which of the profile's nodes (default: its first)" },
  { name: 'json', kind: 'switch', help: 'one JSON document on stdout and no table' },
  {
    name: 'explain',
    kind: 'switch',
    help: 'say what each hop asks, from where, and on what it fails; nothing is touched',
  },
  {
    name: 'only',
    kind: 'text',
    help: 'ask these hops (comma separated) and those whose findings they read; the report is partial',
  },
  {
    name: 'until',
    kind: 'text',
    help: 'ask the hops up to and including this one; the report is partial',
  },
  {
    name: 'in-order',
    kind: 'switch',
    help: 'one hop after the other, stop at the first that fails',
  },
  {
    name: 'require-complete',
    kind: 'switch',
    help: 'exit 2 when the report is partial: a hop was skipped for want of input, or not asked',
  },
  { name: 'deadline', kind: 'seconds', help: 'the whole run ends by then, with what is known' },
];

export type Parsed =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly errors: readonly string[] };

export function parseArgv(system: AnySystem, argv: readonly string[]): Parsed {
  const known = new Map([...ownFlags, ...system.flags].map((flag) => [flag.name, flag]));
  const flags: Record<string, FlagValue> = {};
  const errors: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [name, attached] = split(word);
    const flag = name === null ? undefined : known.get(name);
    if (name === null)
      errors.push(`found: ${JSON.stringify(word)} | allowed: flags only, each beginning with "--"`);
    else if (!flag) {
      errors.push(`found: unknown flag --${name} | allowed: ${nearestOf(name, [...known.keys()])}`);
      // The value of a flag that we do not know is not a mistake of its own.
      if (attached === null && argv[index + 1] !== undefined && !argv[index + 1]?.startsWith('--'))
        index += 1;
    } else if (flag.kind === 'switch') {
      if (attached !== null)
        errors.push(`found: --${name}=${attached} | allowed: --${name} without a value`);
      flags[name] = true;
    } else {
      const next = argv[index + 1];
      const value = attached ?? (next !== undefined && !next.startsWith('--') ? next : null);
      if (attached === null && value !== null) index += 1;
      if (value === null || value === '')
        errors.push(`found: --${name} without a value | allowed: ${allowed(flag)}`);
      else read(flag, value, flags, errors);
    }
  }
  errors.push(...hopMistakes(system, flags), ...(system.checkFlags?.(flags) ?? []));
  return errors.length > 0
    ? { ok: false, errors }
    : { ok: true, request: { argv: [...argv], flags } };
}

function split(word: string): [string | null, string | null] {
  if (!word.startsWith('--') || word === '--') return [null, null];
  const at = word.indexOf('=');
  return at < 0 ? [word.slice(2), null] : [word.slice(2, at), word.slice(at + 1)];
}

function read(flag: Flag, value: string, flags: Record<string, FlagValue>, errors: string[]): void {
  const wrong = () =>
    errors.push(`found: --${flag.name} ${JSON.stringify(value)} | allowed: ${allowed(flag)}`);
  if (flag.kind === 'url') {
    const url = URL.canParse(value) ? new URL(value) : null;
    if (
      !url ||
      !['https:', 'http:'].includes(url.protocol) ||
      url.username !== '' ||
      url.password !== ''
    )
      return void wrong();
    flags[flag.name] = value.replace(/\/+$/, '');
    return;
  }
  if (flag.kind === 'port' || flag.kind === 'seconds') {
    const number = Number(value);
    const good =
      flag.kind === 'port'
        ? Number.isInteger(number) && number >= 1 && number <= 65_535
        : number > 0 && number <= 3600;
    if (!good) return void wrong();
    flags[flag.name] = number;
    return;
  }
  if (flag.kind === 'address' && isIP(value) === 0) return void wrong();
  if ([...value].some((letter) => letter < ' ')) return void wrong();
  flags[flag.name] = value;
}

function allowed(flag: Flag): string {
  switch (flag.kind) {
    case 'address':
      return 'an IP address';
    case 'url':
      return 'an http(s) URL without user name';
    case 'port':
      return 'a port, 1 to 65535';
    case 'seconds':
      return 'seconds, more than 0 and at most 3600';
    case 'file':
      return 'the path of a file';
    case 'switch':
      return 'no value';
    case 'text':
      return flag.help;
  }
}

function hopMistakes(system: AnySystem, flags: Readonly<Record<string, FlagValue>>): string[] {
  const ids = system.hops.map((hop) => hop.id);
  const names = [...String(flags.only ?? '').split(','), String(flags.until ?? '')].filter(
    (name) => name !== '',
  );
  const errors = names
    .filter((name) => !ids.includes(name))
    .map((name) => `found: unknown hop ${JSON.stringify(name)} | allowed: ${nearestOf(name, ids)}`);
  if (flags.only !== undefined && flags.until !== undefined)
    errors.push('found: --only beside --until | allowed: one of them');
  return errors;
}

/** All that is allowed, the nearest first when one is near. */
function nearestOf(found: string, names: readonly string[]): string {
  const near = nearest(found, names);
  return `${names.join(', ')}${near === undefined ? '' : ` | nearest: ${near}`}`;
}

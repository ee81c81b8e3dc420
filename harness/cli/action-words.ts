import type { Action } from '../records/action.ts';

/**
 * One action in a line for people: what runs, where, and how it begins. The whole of it is in `plan
 * --json`.
 */
export function actionWords(action: Action): string {
  switch (action.kind) {
    case 'sh':
      return `sh on ${action.node}: ${command(action.argv, action.stdin)}`;
    case 'docker': {
      const signal = action.signal === undefined ? '' : ` with ${action.signal}`;
      return `docker ${action.verb} ${action.part}${signal}${action.argv === undefined ? '' : `: ${command(action.argv, action.stdin)}`}`;
    }
    case 'toxiproxy':
      return `toxiproxy ${action.verb} ${action.proxy}${toxicWords(action)}`;
    case 'http': {
      const as = action.credential === undefined ? '' : ` as ${action.credential}`;
      return `${action.method} ${action.path} at ${action.endpoint}${as}`;
    }
    case 'database':
      return `database ${action.verb} ${action.slot}`;
  }
}

function toxicWords({ toxic, toxicName }: Extract<Action, { kind: 'toxiproxy' }>): string {
  if (toxic === undefined) return toxicName === undefined ? '' : ` ${toxicName}`;
  const attributes = Object.entries(toxic.attributes).map(([name, value]) => ` ${name}=${value}`);
  return ` ${toxic.type} ${toxic.stream}${attributes.join('')}`;
}

const shown = 150;

function command(argv: readonly string[], stdin: string | undefined): string {
  const line = (titled(argv) ?? argv.map(word).join(' ')).replace(/\s+/g, ' ').trim();
  const cut = line.length > shown ? `${line.slice(0, shown)}...` : line;
  if (stdin === undefined) return cut;
  return `${cut} < ${/^\{snapshot:\S+\}$/.test(stdin) ? stdin : `${stdin.length} characters`}`;
}

/**
 * A script of ours begins with a comment that says what it does; that and its arguments say more
 * than its first commands.
 */
function titled([shell, flag, script = '', , ...given]: readonly string[]): string | undefined {
  if (shell !== 'sh' || flag !== '-c') return undefined;
  const title = /^# (.+)\n/.exec(script)?.[1];
  return title === undefined
    ? undefined
    : `${title}${given.length === 0 ? '' : ` (${given.map(word).join(' ')})`}`;
}

const word = (text: string): string =>
  /^[\w./:=@%+,{}-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

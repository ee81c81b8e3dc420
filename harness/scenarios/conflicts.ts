/**
 * Faults that cannot be injected together on one target: the second would undo, hide or block the
 * first, so neither its effect nor its undo could be told apart. Two of the same name on the same
 * target are refused as well.
 */
const pairs: readonly { readonly one: string; readonly other: string; readonly because: string }[] =
  [
    {
      one: 'service.stop',
      other: 'process.kill',
      because: 'a stopped unit has no process to kill',
    },
    {
      one: 'disk.fill',
      other: 'user.remove',
      because: 'the undo of user.remove cannot write on a full disk',
    },
    {
      one: 'disk.fill',
      other: 'pty.delay',
      because: 'the undo of pty.delay cannot write on a full disk',
    },
    {
      one: 'tls.stale-ca',
      other: 'dns.break',
      because: 'without a resolved name the trust bundle is never used',
    },
    { one: 'link.cut', other: 'link.latency', because: 'a cut link carries no latency' },
    { one: 'user.remove', other: 'pty.delay', because: 'a missing user has no shell to delay' },
    {
      one: 'edge.route-remove',
      other: 'container.stop',
      because: 'a rule inside a stopped container can be neither seen nor undone',
    },
  ];

export interface NamedFault {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Why these two cannot be combined, or undefined when they can. */
export function conflictOf(first: NamedFault, second: NamedFault): string | undefined {
  if (first.name === second.name && sameTarget(first, second))
    return 'the same fault on the same target twice';
  const pair = pairs.find(
    ({ one, other }) =>
      (first.name === one && second.name === other) ||
      (first.name === other && second.name === one),
  );
  return pair?.because;
}

const targetKeys = [
  'on',
  'node',
  'part',
  'link',
  'to',
  'unit',
  'user',
  'what',
  'listener',
  'host',
  'port',
  'path',
];

function sameTarget(first: NamedFault, second: NamedFault): boolean {
  return targetKeys.every(
    (key) => JSON.stringify(first.params[key]) === JSON.stringify(second.params[key]),
  );
}

/**
 * Looks for what carries a run's mark on the targets themselves, for the case that the ledger is
 * not here (another user, a lost disk): folders with a dead-man, rules with our comment, toxics
 * with our name. Nothing without a run id is touched.
 */
import { messageOf } from '../drivers/errors.ts';
import type { Targets } from '../records/ledger.ts';
import { disarm } from './deadman.ts';
import type { Executor } from './execute.ts';
import { isRunId } from './paths.ts';

export interface Leftover {
  readonly where: string;
  readonly what: string;
  readonly run: string;
  readonly state: 'removed' | 'in_use' | 'found' | 'failed' | 'unsearched';
  readonly detail: string;
}

export interface TagOptions {
  readonly dryRun: boolean;
  /** A run that goes on; its things are not leftovers. */
  inUse(run: string): boolean;
}

const listScript = `# what carries a mark of ours
cd /var/lib/hopdrill 2>/dev/null && for r in *; do [ -d "$r" ] && printf 'dir %s %s\\n' "$r" "$(cat "$r/lease" 2>/dev/null | tr ' ' ',')"; done
iptables -w 5 -S | sed -n 's/.*--comment "\\{0,1\\}\\(hopdrill:[A-Za-z0-9_:-]*\\).*/rule \\1/p'
for f in /etc/profile.d/hopdrill-* /usr/local/bin/hopdrill-*; do [ ! -e "$f" ] || echo "file $f"; done
for u in /etc/systemd/system/hopdrill-*.service; do [ ! -e "$u" ] || echo "unit $(basename "$u")"; done
printf 'now %s,%s,%s\\n' "$(cat /proc/sys/kernel/random/boot_id)" "$(cut -d' ' -f1 /proc/uptime)" "$(date +%s)"`;

const fireScript = `# let the dead-man of the run do its work now
d="/var/lib/hopdrill/$1"; [ -e "$d/deadman.pl" ] || exit 0; exec perl "$d/deadman.pl" fire "$1"`;

const dropScript = `# remove what carries the mark
for chain in INPUT OUTPUT; do
  while n=$(iptables -w 5 -L "$chain" -n --line-numbers | awk -v t="/* hopdrill:$1:" 'index($0, t) { print $1; exit }'); [ -n "$n" ]; do iptables -w 5 -D "$chain" "$n" || exit 1; done
done
for f in /etc/profile.d/hopdrill-"$1"-* /usr/local/bin/hopdrill-"$1"-*; do [ ! -e "$f" ] || rm -f "$f"; done`;

export async function sweepNode(
  executor: Executor,
  node: string,
  options: TagOptions,
): Promise<Leftover[]> {
  const where = `node:${node}`;
  const listed = await executor.onNode(node, ['sh', '-c', listScript], { idempotent: true });
  const marks = marksOf(listed.stdout);
  const found: Leftover[] = [];
  for (const [run, mark] of marks) {
    const what = [...mark.what].join(', ');
    if (mark.leased || options.inUse(run))
      found.push({ where, what, run, state: 'in_use', detail: 'its lease is valid' });
    else if (options.dryRun)
      found.push({ where, what, run, state: 'found', detail: 'would be taken back' });
    else found.push(await dropRun(executor, node, run, what));
  }
  return found;
}

async function dropRun(
  executor: Executor,
  node: string,
  run: string,
  what: string,
): Promise<Leftover> {
  const where = `node:${node}`;
  try {
    const fired = await executor.onNode(node, ['sh', '-c', fireScript, 'hopdrill', run], {
      idempotent: true,
      timeoutMs: 60_000,
    });
    const dropped = await executor.onNode(node, ['sh', '-c', dropScript, 'hopdrill', run], {
      idempotent: true,
    });
    if (fired.code !== 0 || dropped.code !== 0)
      return {
        where,
        what,
        run,
        state: 'failed',
        detail: (fired.stdout + dropped.stderr).trim().slice(0, 300),
      };
    await disarm(executor, node, run);
    return {
      where,
      what,
      run,
      state: 'removed',
      detail: fired.stdout.trim().split('\n').join('; '),
    };
  } catch (error) {
    return { where, what, run, state: 'failed', detail: messageOf(error) };
  }
}

interface Mark {
  readonly what: Set<string>;
  leased: boolean;
}

/** Exported for its test. */
export function marksOf(text: string): Map<string, Mark> {
  const lines = text.split('\n');
  const [boot, up, wall] = (lines.find((line) => line.startsWith('now ')) ?? 'now ,0,0')
    .slice(4)
    .split(',');
  const marks = new Map<string, Mark>();
  const note = (run: string | undefined, what: string): Mark | undefined => {
    if (run === undefined || !isRunId(run)) return undefined;
    const mark = marks.get(run) ?? { what: new Set<string>(), leased: false };
    mark.what.add(what);
    marks.set(run, mark);
    return mark;
  };
  for (const line of lines) {
    const [kind, name = '', lease = ''] = line.split(' ');
    if (kind === 'dir') {
      const mark = note(name, 'folder');
      const [leaseBoot, leaseUp, leaseWall] = lease.split(',');
      const left =
        leaseBoot === boot ? Number(leaseUp) - Number(up) : Number(leaseWall) - Number(wall);
      if (mark !== undefined && left > 0) mark.leased = true;
    } else if (kind === 'rule') note(name.split(':')[1], 'rule');
    else if (kind === 'file') note(/hopdrill-(.+)-\d+(?:-shell|\.sh)$/.exec(name)?.[1], 'file');
    else if (kind === 'unit')
      note(/^hopdrill-(.+)\.service$/.exec(name)?.[1]?.replace(/-\d+-kill$/, ''), 'unit');
  }
  return marks;
}

export async function sweepToxics(targets: Targets, options: TagOptions): Promise<Leftover[]> {
  if (targets.toxiproxy === undefined) return [];
  const { openToxiproxy } = await import('../drivers/toxiproxy.ts');
  const toxiproxy = openToxiproxy(targets.toxiproxy.url);
  const found: Leftover[] = [];
  for (const proxy of await toxiproxy.readAll()) {
    for (const toxic of proxy.toxics) {
      const run = /^hopdrill-(.+)-\d+$/.exec(toxic.name)?.[1];
      if (run === undefined || !isRunId(run)) continue;
      const about = { where: `link:${proxy.name}`, what: `toxic ${toxic.type}`, run };
      if (options.inUse(run)) found.push({ ...about, state: 'in_use', detail: 'its run goes on' });
      else if (options.dryRun) found.push({ ...about, state: 'found', detail: 'would be removed' });
      else {
        const outcome = await toxiproxy.removeToxic(proxy.name, toxic.name).then(
          (): Leftover => ({ ...about, state: 'removed', detail: toxic.name }),
          (error: unknown): Leftover => ({ ...about, state: 'failed', detail: messageOf(error) }),
        );
        found.push(outcome);
      }
    }
  }
  return found;
}

/**
 * Looks for what carries a run's mark on the targets themselves, for the case that the ledger is
 * not here (another user, a lost disk): folders with a dead-man, rules with our comment, units and
 * files that faults declare, toxics with our name. Nothing without a run id is touched.
 */
import { messageOf } from '../base/message-of.ts';
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

/** Where faults leave files of their own: paths with `{run}` and `{step}`, as the faults declare. */
export interface MarkPlaces {
  readonly node: readonly string[];
  readonly part: readonly string[];
}

export interface MarkOptions {
  readonly dryRun: boolean;
  readonly places: MarkPlaces;
  /** A run that goes on; its things are not leftovers. */
  inUse(run: string): boolean;
}

/** Where systemd keeps units that have no file of their own. */
const transientUnits = '/run/systemd/transient';

const listScript = `# what carries a mark of ours
cd /var/lib/hopdrill 2>/dev/null && for r in *; do [ -d "$r" ] && printf 'dir %s %s\\n' "$r" "$(cat "$r/lease" 2>/dev/null | tr ' ' ',')"; done
iptables -w 5 -S | sed -n 's/.*--comment "\\{0,1\\}\\(hopdrill:[A-Za-z0-9_:-]*\\).*/rule \\1/p'
for glob in "$@"; do for f in $glob; do [ ! -e "$f" ] || echo "file $f"; done; done
for u in /etc/systemd/system/hopdrill-*.service; do [ ! -e "$u" ] || echo "deadman $(basename "$u" .service)"; done
printf 'now %s,%s,%s\\n' "$(cat /proc/sys/kernel/random/boot_id)" "$(cut -d' ' -f1 /proc/uptime)" "$(date +%s)"`;

const fireScript = `# let the dead-man of the run do its work now
d="/var/lib/hopdrill/$1"; [ -e "$d/deadman.pl" ] || exit 0; exec perl "$d/deadman.pl" fire "$1"`;

/** The files come as a list with a line each. A transient unit is a file too; stopped, it goes. */
const dropScript = `# remove what carries the mark
for chain in INPUT OUTPUT; do
  while n=$(iptables -w 5 -L "$chain" -n --line-numbers | awk -v t="/* hopdrill:$1:" 'index($0, t) { print $1; exit }'); [ -n "$n" ]; do iptables -w 5 -D "$chain" "$n" || exit 1; done
done
printf '%s\\n' "$2" | while read -r f; do
  case $f in
    '') ;;
    ${transientUnits}/*) u=\${f##*/}; systemctl stop "$u" 2>/dev/null; systemctl reset-failed "$u" 2>/dev/null || : ;;
    *) rm -f "$f" || exit 1 ;;
  esac
done`;

export async function sweepNode(
  executor: Executor,
  node: string,
  options: MarkOptions,
): Promise<Leftover[]> {
  const where = `node:${node}`;
  const globs = globsOf(options.places.node);
  const listed = await executor.onNode(node, ['sh', '-c', listScript, 'hopdrill', ...globs], {
    idempotent: true,
  });
  const marks = marksOf(listed.stdout, options.places.node);
  const found: Leftover[] = [];
  for (const [run, mark] of marks) {
    const what = [...mark.what].join(', ');
    if (mark.leased || options.inUse(run))
      found.push({ where, what, run, state: 'in_use', detail: 'its lease is valid' });
    else if (options.dryRun)
      found.push({ where, what, run, state: 'found', detail: 'would be taken back' });
    else found.push({ where, what, run, ...(await dropRun(executor, node, run, mark)) });
  }
  return found;
}

async function dropRun(
  executor: Executor,
  node: string,
  run: string,
  { files }: Mark,
): Promise<Pick<Leftover, 'state' | 'detail'>> {
  const idempotent = true;
  try {
    const fire = ['sh', '-c', fireScript, 'hopdrill', run];
    const fired = await executor.onNode(node, fire, { idempotent, timeoutMs: 60_000 });
    const drop = ['sh', '-c', dropScript, 'hopdrill', run, files.join('\n')];
    const dropped = await executor.onNode(node, drop, { idempotent });
    if (fired.code !== 0 || dropped.code !== 0)
      return { state: 'failed', detail: (fired.stdout + dropped.stderr).trim().slice(0, 300) };
    await disarm(executor, node, run);
    return { state: 'removed', detail: fired.stdout.trim().split('\n').join('; ') };
  } catch (error) {
    return { state: 'failed', detail: messageOf(error) };
  }
}

interface Mark {
  readonly what: Set<string>;
  readonly files: string[];
  leased: boolean;
}

export const globsOf = (places: readonly string[]): string[] =>
  places.map((place) => place.replaceAll(/\{(run|step)\}/g, '*'));

/** `/etc/profile.d/hopdrill-{run}-{step}.sh` as a pattern that gives the run. */
export function runPattern(place: string): RegExp {
  const literal = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal(place).replace('{run}', '(.+)').replace('{step}', '\\d+')}$`);
}

/** Exported for its test. */
export function marksOf(text: string, places: readonly string[]): Map<string, Mark> {
  const lines = text.split('\n');
  const clock = lines.find((line) => line.startsWith('now ')) ?? 'now ,0,0';
  const patterns = places.map(runPattern);
  const marks = new Map<string, Mark>();
  const note = (run: string | undefined, what: string): Mark | undefined => {
    if (run === undefined || !isRunId(run)) return undefined;
    const mark = marks.get(run) ?? { what: new Set(), files: [], leased: false };
    mark.what.add(what);
    marks.set(run, mark);
    return mark;
  };
  for (const line of lines) {
    const [kind, name = '', lease = ''] = line.split(' ');
    if (kind === 'dir') {
      const mark = note(name, 'folder');
      if (mark !== undefined && isValidLease(lease, clock)) mark.leased = true;
    } else if (kind === 'rule') note(name.split(':')[1], 'rule');
    else if (kind === 'file') {
      const what = name.startsWith(transientUnits) ? 'unit' : 'file';
      note(patterns.map((one) => one.exec(name)?.[1]).find(Boolean), what)?.files.push(name);
    } else if (kind === 'deadman') note(name.slice('hopdrill-'.length), 'unit');
  }
  return marks;
}

/** Both are `boot,uptime,time`: inside one boot the uptime decides, else the wall clock. */
function isValidLease(lease: string, clock: string): boolean {
  const [boot, up, wall] = clock.slice('now '.length).split(',');
  const [leaseBoot, leaseUp, leaseWall] = lease.split(',');
  return leaseBoot === boot
    ? Number(leaseUp) - Number(up) > 0
    : Number(leaseWall) - Number(wall) > 0;
}

export async function sweepToxics(targets: Targets, options: MarkOptions): Promise<Leftover[]> {
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

import { z } from 'zod';
import { defineFault } from './define.ts';
import { agentOf, on, sh, transientUnit } from './kit.ts';

const dir = '/var/lib/hopdrill/{run}/fill-{step}';
const keeper = 'hopdrill-{run}-{step}-fill.service';

/**
 * The reserve is freed first, so that the undo itself has room; its blocks count as filled. The
 * rehearsal proves that freeing works. Others write and free on the same disk (a journal in
 * rotation more than the rehearsal takes), so one look in a quiet moment is enough.
 */
const rehearseScript = `# reserve some blocks, rehearse the undo
set -e; umask 077; mkdir -p "$1"; cd "$1"
rehearse() {
  sync -f .; before=$(stat -f -c %f .); dd if=/dev/zero of=rehearsal bs=64K count=16 conv=fsync status=none; taken=$(stat -c %b rehearsal); during=$(stat -f -c %f .)
  rm rehearsal; sync -f .; after=$(stat -f -c %f .); seen="$seen $before-$during-$after"
  [ "$taken" -ge 2048 ] && [ "$during" -lt "$before" ] && [ "$after" -gt "$during" ]
}
n=1; until rehearse; do n=$((n + 1)); [ $n -le 8 ] || { echo "freeing a file gives no room: free blocks before, with and after it:$seen" >&2; exit 3; }; sleep 0.2; done
dd if=/dev/zero of=reserve bs=64K count=1 conv=fsync status=none
mkdir -p "$(dirname "$1")"; [ "$(stat -c %d .)" = "$(stat -c %d /)" ] || { echo 'not on the root' >&2; exit 3; }
echo rehearsed`;

/**
 * Real blocks, down to the last: what others free meanwhile is taken as well. A journal that has
 * just begun a file deletes no old ones for a while.
 */
const fillScript = `# fill the root
cd "$1" || exit 1
journalctl --rotate > /dev/null 2>&1
if [ "$2" != 100 ]; then
  total=$(df -B 1K --output=size / | tail -n 1); used=$(df -B 1K --output=used / | tail -n 1); more=$((total * $2 / 100 - used))
  [ "$more" -gt 0 ] || { echo "the disk is fuller than $2 % even now" >&2; exit 1; }
  dd if=/dev/zero of=fill bs=1K count="$more" conv=fsync status=none; exit
fi
n=0; while [ $n -lt 6 ]; do
  dd if=/dev/zero of=fill bs=1M oflag=append conv=notrunc status=none 2>/dev/null; dd if=/dev/zero of=fill bs=4K oflag=append conv=notrunc,fsync status=none 2>/dev/null; sync -f .
  dd if=/dev/zero of=probe bs=4K count=1 conv=fsync status=none 2>/dev/null || { rm -f probe; exit 0; }
  cat probe >> fill; rm -f probe; n=$((n + 1))
done
echo 'the root does not get full' >&2; exit 1`;

/**
 * As what fills a disk in the field goes on writing: a task that ends later gives a block back, and
 * one is enough for an agent to live on. More than 1 MiB at once is somebody's repair, which stays.
 */
const keepScript = `# keep the root full
exec systemd-run --quiet --collect --unit="$2" sh -c '
while [ -e "$1/reserve" ] && [ -e "$1/fill" ]; do
  free=$(stat -f -c %a /); [ "$free" -le 256 ] || exit 0
  [ "$free" -eq 0 ] || dd if=/dev/zero of="$1/fill" bs=4K count="$free" oflag=append conv=notrunc,nocreat,fsync status=none 2>/dev/null
  sleep 0.1
done' hopdrill "$1"`;

/**
 * What still fills ends without these files and makes none anew, so room does not wait for systemd.
 */
const freeScript = `# free the reserve first, then the rest
rm -f "$1/reserve"; rm -f "$1/fill" "$1/probe" "$1/rehearsal"; systemctl stop "$2" 2>/dev/null; [ ! -d "$1" ] || rmdir "$1"; sync -f /; true`;

/** As the agent: a block that is written and flushed. */
const activeScript = `# write and flush a block as the agent
home=$(getent passwd "$2" | cut -d: -f6); f="$home/.hopdrill-probe"
df -h --output=pcent,avail / | tail -n 1
if [ "$3" != 100 ]; then [ "$(df --output=pcent / | tail -n 1 | tr -dc 0-9)" -ge "$(($3 - 1))" ] || exit 1; exit 0; fi
setpriv --reuid "$2" --clear-groups dd if=/dev/zero of="$f" bs=4K count=1 conv=fsync status=none 2>&1; rc=$?
rm -f "$f"; [ $rc != 0 ] || exit 1`;

const digestScript = `# our files on the disk, and who fills it
[ ! -e "$1/fill" ] || echo "there is $1/fill"; ! systemctl -q is-active "$2" || echo 'being filled'; echo checked`;

export const diskFill = defineFault({
  name: 'disk.fill',
  title: 'The root of the node is full',
  why: 'A full disk breaks much at once, each in its own way; it must be named as the disk.',
  params: z.strictObject({
    on,
    fill: z
      .string()
      .regex(/^([5-9]\d|100)%$/)
      .default('100%')
      .describe('how full: 50% to 100%; 100%: not one block can be written'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'disk',
  marks: [transientUnit(keeper)],
  plan: ({ fill }, node, profile) => {
    const percent = fill.slice(0, -1);
    const agent = agentOf(profile, node);
    return {
      summary: `the root of ${node} is ${fill} full`,
      cuts: [],
      snapshot: [{ name: 'rehearsal', do: sh(node, rehearseScript, dir) }],
      inject: [
        sh(node, fillScript, dir, percent),
        ...(percent === '100' ? [sh(node, keepScript, dir, keeper)] : []),
      ],
      undo: [sh(node, freeScript, dir, keeper)],
      active: sh(node, activeScript, dir, agent.user, percent),
      digest: sh(node, digestScript, dir, keeper),
    };
  },
});

import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { on, savedDir, sh } from '../../../faults/kit.ts';
import { nodeNamed } from '../deployment.ts';

const saveScript = `# keep the user's entries on the node
set -e; umask 077; d=$1 u=$2; mkdir -p "$d"; getent passwd "$u" > /dev/null || { echo "no user $u" >&2; exit 3; }
for f in passwd shadow group gshadow subuid subgid; do [ ! -e "/etc/$f" ] || grep "^$u:" "/etc/$f" > "$d/$f" || :; done
getent group | awk -F: -v u="$u" '{ n = split($4, m, ","); for (i = 1; i <= n; i++) if (m[i] == u) print $1 }' > "$d/groups"
getent passwd "$u"`;

/** -f: also while a shell of the user is open. The home stays: nothing of the user's is deleted. */
const removeScript = `# remove the user, keep the home
exec 9> /run/lock/gpuaas-users && flock -w 10 9; out=$(userdel -f "$1" 2>&1); ! getent passwd "$1" || { echo "$out" >&2; exit 1; }`;

const backScript = `# put the entries back, unless a user of that name is there
d=$1 u=$2; exec 9> /run/lock/gpuaas-users && flock -w 10 9
if ! getent passwd "$u" > /dev/null; then
  [ -s "$d/passwd" ] || { echo 'no saved entries' >&2; exit 1; }
  for f in group gshadow shadow subuid subgid passwd; do
    [ -s "$d/$f" ] && ! grep -q "^$u:" "/etc/$f" || continue
    cp -p "/etc/$f" "/etc/$f.hopdrill" && cat "$d/$f" >> "/etc/$f.hopdrill" && mv "/etc/$f.hopdrill" "/etc/$f" || exit 1
  done
fi
[ ! -e "$d/groups" ] || while read -r g; do id -nG "$u" | grep -qw "$g" || gpasswd -q -a "$u" "$g"; done < "$d/groups"`;

const digestScript = `# passwd and group entry, owner of the home
getent passwd "$1" || echo 'no user'; getent group "$1" || echo 'no group'; stat -c 'home %u:%g' "$2" 2>/dev/null || echo 'no home'`;

export const userRemove = defineFault({
  name: 'user.remove',
  title: 'The user of the allocation is gone from the node',
  why: 'A rebuilt node, or a hand that deletes: the terminal path works and there is nobody to open a shell for.',
  params: z.strictObject({
    on,
    user: z.string().optional().describe('who; the user of the allocation when left out'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'user',
  place: ['on', 'user'],
  conflicts: {
    'disk.fill': 'the undo of user.remove cannot write on a full disk',
  },
  plan: ({ user: wanted }, node, profile) => {
    const user = wanted ?? nodeNamed(profile, node).allocationUser;
    return {
      summary: `${user} does not exist on ${node}`,
      cuts: [],
      snapshot: [{ name: 'entry', do: sh(node, saveScript, savedDir, user) }],
      inject: [sh(node, removeScript, user)],
      undo: [sh(node, backScript, savedDir, user)],
      active: sh(
        node,
        '# the user is unknown\nif getent passwd "$1"; then exit 1; fi; echo "no user $1"',
        user,
      ),
      digest: sh(node, digestScript, user, `/home/${user}`),
      supersedable: true,
    };
  },
});

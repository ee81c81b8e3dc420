// Faults in the configuration of an nginx part: change one file, reload, and wait until the old
// workers are gone.

/**
 * `nginx -s reload` returns before the old workers end, and these go on answering under the old
 * rules.
 */
export const reload = `
reload() {
  old=$(pgrep -P "$(cat /run/nginx.pid)"); nginx -t -q || return 1; nginx -s reload || return 1
  n=0; while [ $n -lt 240 ]; do
    left=; for p in $old; do [ -d "/proc/$p" ] && ! grep -q '^State:.Z' "/proc/$p/status" 2>/dev/null && left=$p; done
    [ -n "$left" ] || return 0; sleep 0.05; n=$((n + 1))
  done
  echo "old worker $left stays" >&2; return 1
}`;

export const readFile = `# the file as it is
cat "$1"`;

/** The first argument is the file; further ones are files of our own, which go. */
export const putBack = `# put the file back and reload
${reload}
f=$1; shift; cat > "$f" || exit 1; rm -f "$@"; reload`;

/**
 * Old workers count as leftovers; one that is just leaving is awaited. The pattern is written so that
 * it does not find this very script, whose text it is part of.
 */
export const partDigest = `# the file, files of ours beside it, old workers
f=$1; shift
if [ -e "$f" ]; then printf '%s %s\\n' "$(sha256sum < "$f" | cut -d' ' -f1)" "$(stat -c '%a %U:%G' "$f")"; else echo absent; fi
for o in "$@"; do [ ! -e "$o" ] || echo "there is $o"; done
n=0; while pgrep -f '[w]orker process is shutting down' > /dev/null && [ $n -lt 240 ]; do sleep 0.05; n=$((n + 1)); done
[ $n -lt 240 ] || echo 'an old worker'`;

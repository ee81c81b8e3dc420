#!/bin/sh
# The same with `&` and `wait`, over one SSH master. `--master PATH` (the first argument) names a master that is open already;
# without it one is opened first, which costs a connection.
set -u
given=
if [ "${1-}" = --master ]; then
  given=$2
  shift 2
fi
. "$(dirname "$0")/preflight-probes.sh"
master=${given:-$work/master}
if [ -z "$given" ]; then
  ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o "UserKnownHostsFile=$known" -o ControlMaster=yes -o "ControlPath=$master" -o ControlPersist=60 \
    -i "$key" -p "$port" -fN "$user@$host"
  trap 'ssh -F none -o "ControlPath=$master" -O exit "$user@$host" 2>/dev/null; rm -rf "$work"' EXIT
fi
side() { answer "$1" >"$work/out.$1" 2>&1 & }
session() {
  answer terminal_token_mint && answer terminal_session && answer browser_terminal_ws && answer workload_terminal_startup_failure || return 1
  answer terminal_open_task >"$work/out.open" &
  answer gateway_node_stream >"$work/out.stream" &
  wait
}
for probe in allocation_binding node_ops_access node_readiness node_runtime_api_reachability node_recovery_status node_heartbeat \
  node_task_roundtrip terminal_public_route node_terminal_reachability; do
  side $probe
done
session >"$work/out.session" 2>&1 &
wait
cat "$work"/out.*
! grep -q FAIL "$work"/out.*

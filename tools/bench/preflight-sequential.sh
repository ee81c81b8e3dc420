#!/bin/sh
# The hops of `hopdrill preflight`, one after the other, as a careful person would ask them by hand. Same flags as the preflight.
set -u
. "$(dirname "$0")/preflight-probes.sh"
status=0
for probe in allocation_binding node_ops_access node_readiness node_runtime_api_reachability node_recovery_status node_heartbeat \
  node_task_roundtrip terminal_token_mint terminal_public_route terminal_session browser_terminal_ws terminal_open_task \
  node_terminal_reachability gateway_node_stream workload_terminal_startup_failure; do
  answer $probe || status=1
done
exit $status

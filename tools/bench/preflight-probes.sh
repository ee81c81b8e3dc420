# shellcheck shell=sh
# What the preflight asks, asked with curl, openssl and ssh. Sourced by the two scripts beside it; takes the preflight's flags.
# Every probe is a function that prints "name ok" or "name FAIL why" and returns accordingly.
user=ubuntu port=22 agent=gpuaas unit=gpuaas-node-agent.service resolve=127.0.0.1 provider=
while [ $# -gt 1 ]; do
  case $1 in
    --api-base) api=$2 ;;
    --terminal-base) terminal=$2 ;;
    --allocation-id) allocation=$2 ;;
    --node-id) node=$2 ;;
    --node-host) host=$2 ;;
    --node-user) user=$2 ;;
    --node-ssh-port) port=$2 ;;
    --known-hosts) known=$2 ;;
    --ssh-key) key=$2 ;;
    --agent-user) agent=$2 ;;
    --agent-unit) unit=$2 ;;
    --resolve-address) resolve=$2 ;;
    --ca-file) ca=$2 ;;
    --operator-token-file) operator=$(cat "$2") ;;
    --user-token-file) member=$(cat "$2") ;;
    --edge-cookie-file) cookie=gpuaas_edge=$(cat "$2") ;;
    --provider-url) provider=$2 ;;
  esac
  shift 2
done
: "${api:?}" "${terminal:?}" "${allocation:?}" "${node:?}" "${host:?}" "${known:?}" "${key:?}" "${ca:?}" "${operator:?}" "${member:?}" "${cookie:?}"
work=$(mktemp -d)
master=
trap 'rm -rf "$work"' EXIT

answer() { if "$1"; then echo "$1 ok"; else echo "$1 FAIL"; return 1; fi; }
get() { # token path [curl options]
  token=$1 path=$2
  shift 2
  curl -sS --max-time 5 --cacert "$ca" --resolve "$(authority "$api"):$resolve" -H "authorization: Bearer $token" "$@" "$api$path"
}
authority() { echo "${1#*://}" | sed 's|/.*||'; }
on_node() { # a line of shell; without a master each call is a connection of its own
  ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o "UserKnownHostsFile=$known" -o ConnectTimeout=5 ${master:+-o "ControlPath=$master"} \
    -i "$key" -p "$port" "$user@$host" "$1"
}
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

allocation_binding() { get "$operator" "/v1/allocations/$allocation" | grep -q '"state":"active"'; }
node_ops_access() { [ "$(on_node 'echo sentinel')" = sentinel ] && { [ -z "$provider" ] || curl -sS --max-time 5 -H "authorization: Bearer $operator" "$provider/v1/nodes/$node/guest-agent" | grep -q '"up"'; }; }
node_readiness() {
  on_node "df -P / && df -P -i / && sudo -n -u $agent sh -c 'f=/var/lib/gpuaas/diagnostics/.bench-\$\$; dd if=/dev/zero of=\$f bs=64k count=1 conv=fsync 2>/dev/null; r=\$?; rm -f \$f; exit \$r'" >/dev/null
}
# The environment of the running agent decides which addresses are asked.
effective='export $(sudo -n cat /proc/$(systemctl show -p MainPID --value '$unit')/environ | tr "\0" "\n" | grep -E "^GPUAAS_(API_URL|TERMINAL_API_URL|CA_BUNDLE_PATH|CERT_PATH|KEY_PATH)=")'
dial() { # url-variable path identity-options
  printf '%s; u=${%s#*://}; h=${u%%%%[:/]*}; case $u in *:*) p=${u##*:};; *) p=443;; esac; printf "GET %%s HTTP/1.1\\r\\nhost: %%s\\r\\nconnection: close\\r\\n\\r\\n" "%s" "$h" | sudo -n -u %s timeout 5 openssl s_client -quiet -connect "$h:$p" -servername "$h" -verify_hostname "$h" -CAfile "${GPUAAS_CA_BUNDLE_PATH:-/etc/gpuaas/ca-bundle.crt}" -verify_return_error %s 2>/dev/null' "$effective" "$1" "$2" "$agent" "$3"
}
identity='-cert "${GPUAAS_CERT_PATH:-/etc/gpuaas/cert.pem}" -key "${GPUAAS_KEY_PATH:-/etc/gpuaas/key.pem}"'
wait_path="/internal/v1/nodes/$node/tasks/wait?claim=false"
node_runtime_api_reachability() { on_node "$(dial GPUAAS_API_URL "$wait_path" '')" | grep -aq '^HTTP/1.1 4'; }
node_recovery_status() {
  on_node "$(dial GPUAAS_API_URL "$wait_path" "$identity"); sudo -n cat /var/lib/gpuaas/diagnostics/current.json" | grep -aq '"probe":true' &&
    get "$operator" "/v1/nodes/$node" | grep -q '"reason":null'
}
node_heartbeat() { on_node "systemctl show -p ActiveState,SubState,NRestarts $unit" | grep -q SubState=running && get "$operator" "/v1/nodes/$node" | grep -q '"stale":false'; }
node_task_roundtrip() {
  task=$(get "$operator" "/v1/nodes/$node/tasks" -H 'content-type: application/json' -d '{"task_type":"diag.health_probe","params":{}}' | field task_id)
  patience=100
  until get "$operator" "/v1/tasks/$task" | grep -q '"status":"completed"'; do
    patience=$((patience - 1))
    [ $patience -gt 0 ] || return 1
    sleep 0.02
  done
}
terminal_token_mint() { get "$member" "/v1/allocations/$allocation/terminal-token" -X POST -H 'content-type: application/json' -d '{}' >"$work/minted" && grep -q '"token"' "$work/minted"; }
terminal_public_route() { curl -sS --max-time 5 --cacert "$ca" --resolve "$(authority "$terminal"):$resolve" -H "cookie: $cookie" "$terminal/healthz" | grep -q '"part":"gateway"'; }
seen() { # pattern: waits for it in what the terminal sent
  patience=400
  until grep -aq "$1" "$work/session"; do
    patience=$((patience - 1))
    [ $patience -gt 0 ] || return 1
    sleep 0.02
  done
}
# One session answers four hops: upgrade, terminal.open, node stream, and the shell's computed answer. The mask is zero, so bytes go as they are.
terminal_session() {
  name=${terminal#*://}
  : >"$work/session"
  {
    printf 'GET /ws/terminal HTTP/1.1\r\nhost: %s\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: aG9wZHJpbGwtYmVuY2gtMQ==\r\nsec-websocket-protocol: gpuaas.terminal.v1, token.%s\r\ncookie: %s\r\n\r\n' \
      "$name" "$(field token <"$work/minted")" "$cookie"
    seen '"type":"ready"' && printf '\202\222\000\000\000\000echo $((123*457))\n' && seen 56211
  } | timeout 12 openssl s_client -quiet -no_ign_eof -connect "$resolve:${name##*:}" -servername "${name%%:*}" -verify_hostname "${name%%:*}" -CAfile "$ca" -verify_return_error >"$work/session" 2>/dev/null
  grep -aq 56211 "$work/session"
}
browser_terminal_ws() { grep -aq '^HTTP/1.1 101' "$work/session"; }
terminal_open_task() { get "$operator" "/v1/terminal/sessions/$(field session_id <"$work/minted")" | grep -q '"open_task"'; }
gateway_node_stream() {
  curl -sS --max-time 5 --cacert "$ca" --resolve "$(authority "$terminal"):$resolve" -H "cookie: $cookie" -H "authorization: Bearer $operator" \
    "$terminal/v1/sessions/$(field session_id <"$work/minted")/observations" | grep -q node_stream_connected
}
workload_terminal_startup_failure() { grep -aq 56211 "$work/session"; }
node_terminal_reachability() { on_node "$(dial GPUAAS_TERMINAL_API_URL /healthz "$identity")" | grep -aq '^HTTP/1.1'; }

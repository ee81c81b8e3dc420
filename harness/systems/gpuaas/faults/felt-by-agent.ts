// Whether the agent itself noticed a fault in name, trust or certificate. Asked by `active` alone:
// no undo and no digest depends on it.

/**
 * What the agent says of its polls since it was started with the fault: in its record or, where a
 * full disk keeps that old, in the journal. Any trouble of its polls counts, since another fault of
 * the same run may stand before this one. For the same reason an agent that somebody stopped is not
 * asked.
 */
export const feltByAgent = `
trouble() { tr -d '\\n' | sed -n 's/.*"reason": *"\\([a-z_]*\\)", *"phase": *"\\([a-z]*\\)", *"code": *"\\([^"]*\\)".*/\\1 \\2 \\3/p' | grep -Ev '^(process_alive|task_result|terminal_|pty_)'; }
felt() {
  systemctl -q is-active "$1" || { echo 'the agent does not run and cannot say'; return 0; }
  record=/var/lib/gpuaas/diagnostics/current.json pid=$(systemctl show -p MainPID --value "$1")
  said=$(grep -q "\\"pid\\": *$pid," "$record" 2>/dev/null && sed '/"history"/,$d' "$record" | trouble)
  [ -n "$said" ] || said=$(journalctl -u "$1" _PID="$pid" --since "$(systemctl show -p ExecMainStartTimestamp --value "$1")" -o cat --no-pager | grep '"event":"diagnostic"' | tail -n 1 | trouble)
  echo "the agent: \${said:-nothing yet}"; [ -n "$said" ]
}`;

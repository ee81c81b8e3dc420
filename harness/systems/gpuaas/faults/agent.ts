// What faults need to know of the node agent: its environment, and how it starts anew.

export const restartAgent = `# restart the agent, so that it feels it
systemctl try-restart "$1"`;

/** Prints the value of one variable of the running agent, else of its env file. Sets `value`. */
export const agentVariable = `
agent_variable() {
  pid=$(systemctl show -p MainPID --value "$1"); value=
  [ "$pid" = 0 ] || value=$(tr '\\0' '\\n' < "/proc/$pid/environ" 2>/dev/null | sed -n "s/^$2=//p" | tail -n 1)
  [ -n "$value" ] || for file in $(systemctl show -p EnvironmentFiles --value "$1" | sed 's/ (.*//'); do value=$(sed -n "s/^$2=//p" "$file" | tail -n 1); done
}
split_url() { rest=\${1#*://}; rest=\${rest%%/*}; host=\${rest%%:*}; port=443; case $rest in *:*) port=\${rest##*:};; esac; }
`;

/** The names that a scenario uses for what the agent connects to. */
export const agentUrls = {
  'node-api': 'GPUAAS_API_URL',
  term: 'GPUAAS_TERMINAL_API_URL',
  recovery: 'GPUAAS_RECOVERY_API_URL',
} as const;

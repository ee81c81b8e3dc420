import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import {
  fileDigest,
  on,
  replaceFile,
  restoreFiles,
  savedDir,
  saveFiles,
  sh,
  withStdin,
} from '../../../faults/kit.ts';
import { nodeNamed } from '../deployment.ts';
import { agentUrls, agentVariable } from './agent.ts';
import { feltByAgent } from './felt-by-agent.ts';

/**
 * A CA of the same kind that signed nothing here, as an old bundle looks after a rotation. Its key
 * is never written.
 */
const staleScript = `# mint the stale CA
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -subj '/CN=GPUaaS service CA (before rotation)' -days 30 2>/dev/null`;

const activeScript = `# what the agent's bundle makes of the server, and what the agent says of it
${agentVariable}${feltByAgent}
agent_variable "$1" "$2"; split_url "$value"
said=$(timeout 3 openssl s_client -connect "$host:$port" -servername "$host" -CAfile "$3" < /dev/null 2>&1)
case $said in
  *'Verification: OK'*) echo "$host verifies"; exit 1 ;;
  *'Verification error'*) printf '%s; ' "$(echo "$said" | grep -m 1 'Verification error')" ;;
  *) echo "no answer of $host:$port" >&2; exit 2 ;;
esac
# A bundle that its polls do not use is felt by nobody while all is well.
agent_variable "$1" GPUAAS_CA_BUNDLE_PATH; [ "\${value:-$3}" != "$3" ] || felt "$1" || exit 1`;

export const tlsStaleCa = defineFault({
  name: 'tls.stale-ca',
  title: 'The node trusts a CA of yesterday',
  why: 'After a rotation of the service CA a node with the old bundle is healthy, reachable, and refuses its own platform.',
  params: z.strictObject({
    on,
    file: z
      .string()
      .startsWith('/')
      .default('/etc/gpuaas/ca-bundle.crt')
      .describe('the trust bundle of the agent'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'node-file',
  conflicts: {
    'dns.break': 'without a resolved name the trust bundle is never used',
  },
  plan: ({ file }, node, profile) => {
    const { agentUnit } = nodeNamed(profile, node);
    return {
      summary: `${node} has a stale trust bundle (${file})`,
      cuts: [`link:${node}.node-api`],
      snapshot: [
        { name: 'saved', do: sh(node, saveFiles, savedDir, file) },
        { name: 'stale', do: sh(node, staleScript) },
      ],
      inject: [withStdin(sh(node, replaceFile, file, agentUnit), '{snapshot:stale}')],
      undo: [sh(node, restoreFiles, savedDir, agentUnit, file)],
      active: sh(node, activeScript, agentUnit, agentUrls['node-api'], file),
      digest: sh(node, fileDigest, file),
      reaches: 'the agent is restarted: an open connection was verified long ago',
      supersedable: true,
    };
  },
});

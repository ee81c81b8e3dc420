import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { exec, withStdin } from '../../../faults/kit.ts';
import { partDigest, readFile, reload } from './nginx.ts';

/**
 * A certificate swapped on the node would fail at the ingress first; so the listener's own trust is
 * broken.
 */
const strangerScript = `# mint a CA that signed no node
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -subj '/CN=GPUaaS node CA (of another platform)' -days 30 2>/dev/null`;

const putScript = `# put the CA in and make the part read it
${reload}
cat > "$1" || exit 1
if [ -e /run/nginx.pid ]; then reload; else main=$(pgrep -o -f '^node ') || { echo 'no main process' >&2; exit 1; }; kill -HUP "$main" && sleep 0.1; fi`;

const activeScript = `# the CA names that the listener asks for
said=$(timeout 3 openssl s_client -connect "127.0.0.1:$1" < /dev/null 2>&1)
case $said in
  *'of another platform'*) echo 'the listener trusts a strange CA'; exit 0 ;;
  *'CA names'*) echo 'the listener trusts its own CA'; exit 1 ;;
esac
echo 'no CA names' >&2; exit 2`;

const listener = { gateway: '18443', ingress: '8441' } as const;

export const tlsTrustCa = defineFault({
  name: 'tls.trust-ca',
  title: 'A listener trusts the wrong CA',
  why: 'The certificates of the nodes are right and still refused: the trust store of a part was left behind or mixed up.',
  params: z.strictObject({ part: z.enum(['gateway', 'ingress']).describe('whose listener') }),
  targetKind: 'part',
  targetParam: 'part',
  undoKind: 'part-file',
  plan: ({ part }) => {
    const file = `/etc/gpuaas-${part}/client-ca.crt`;
    return {
      summary: `${part} trusts a CA that signed none of the nodes`,
      cuts: [],
      snapshot: [
        { name: 'trust', do: exec(part, readFile, file) },
        { name: 'stranger', do: exec(part, strangerScript) },
      ],
      inject: [withStdin(exec(part, putScript, file), '{snapshot:stranger}')],
      undo: [withStdin(exec(part, putScript, file), '{snapshot:trust}')],
      active: exec(part, activeScript, listener[part]),
      digest: exec(part, partDigest, file),
      reaches:
        'the part reads its trust anew; connections that are open stay as they are, at the ingress their worker ends',
    };
  },
});

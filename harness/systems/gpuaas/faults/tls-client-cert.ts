import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { exec, on, restoreFiles, savedDir, saveFiles, sh, withStdin } from '../../../faults/kit.ts';
import { nodeNamed } from '../deployment.ts';
import { feltByAgent } from './felt-by-agent.ts';

const cert = '/etc/gpuaas/cert.pem';
const env = '/etc/gpuaas/env';

/** The node's key stays on the node: only a request for a certificate leaves it. */
const requestScript = `# a request with the node's own key
openssl req -new -key /etc/gpuaas/key.pem -subj "/CN=$1"`;

/**
 * Runs beside the platform's CA key, which stays there. `openssl ca` is the one command with a
 * start date.
 */
const mintScript = `# mint the certificate with the platform's own CA
set -e; umask 077; d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; cd "$d"; cat > request.pem
kind=$1 id=$2 ca=$3/node-ca.crt key=$3/node-ca.key from='1 hour ago' to='1 hour'
case $kind in
  expired) from='3 days ago' to='1 day ago' ;;
  other-node) id=$4 ;;
  untrusted) openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out ca.pem -subj '/CN=a CA that nobody here knows' -days 2 2>/dev/null; ca=ca.pem key=key.pem ;;
esac
: > index; printf '%s\\n' '[ca]' 'default_ca=c' '[c]' 'database=index' 'new_certs_dir=.' 'rand_serial=yes' 'default_md=sha256' 'policy=p' 'x509_extensions=e' 'unique_subject=no' '[p]' 'commonName=supplied' '[e]' \\
  'basicConstraints=critical,CA:FALSE' 'keyUsage=critical,digitalSignature' 'extendedKeyUsage=clientAuth' 'authorityKeyIdentifier=keyid' "subjectAltName=URI:gpuaas:node:$id" > ca.cnf
date_of() { date -u -d "$1" +%Y%m%d%H%M%SZ; }
openssl ca -batch -config ca.cnf -in request.pem -cert "$ca" -keyfile "$key" -startdate "$(date_of "$from")" -enddate "$(date_of "$to")" -subj "/CN=$id" -notext -out out.pem 2> said || { cat said >&2; exit 1; }
cat out.pem`;

const injectScript = `# put the certificate in, restart the agent
set -e; f=$1; cp -a "$f" "$f.hopdrill"; cat > "$f.hopdrill"; mv -f "$f.hopdrill" "$f"
if [ "$4" = remove ]; then cp -a "$2" "$2.hopdrill"; sed '/^GPUAAS_ENROLLMENT_TOKEN=/d' "$2" > "$2.hopdrill"; mv -f "$2.hopdrill" "$2"; fi
systemctl try-restart "$3"`;

/** Of the env file only the token's line: the rest is not ours. Its value is never printed. */
const digestScript = `# the certificate, and whether there is a token
printf '%s %s\\n' "$(sha256sum < "$1" | cut -d' ' -f1)" "$(stat -c '%a %U:%G' "$1")"
if [ "$3" = remove ]; then printf 'token %s %s\\n' "$(grep '^GPUAAS_ENROLLMENT_TOKEN=..*' "$2" | sha256sum | cut -c1-16)" "$(stat -c '%a %U:%G' "$2")"; fi`;

/**
 * With a token the agent feels it and replaces the certificate in one go: no look fits in between,
 * and the platform's history tells of it.
 */
const activeScript = `# what is wrong with the certificate that the agent has now, and what the agent says of it
${feltByAgent}
case $2 in
  expired) if openssl x509 -in "$1" -noout -checkend 0 > /dev/null; then echo 'not expired'; exit 1; fi ;;
  untrusted) openssl x509 -in "$1" -noout -issuer | grep -q 'a CA that nobody here knows' || { echo 'issuer is known'; exit 1; } ;;
  other-node) openssl x509 -in "$1" -noout -ext subjectAltName | grep -q "gpuaas:node:$3\\$" && { echo 'it is its own'; exit 1; } ;;
esac
openssl x509 -in "$1" -noout -issuer -enddate -serial | tr '\\n' ' '
[ -z "$4" ] || felt "$4" || exit 1`;

export const tlsClientCert = defineFault({
  name: 'tls.client-cert',
  title: 'The node presents a certificate that is refused',
  why: 'Expired, of a foreign CA, or of another node: the listener refuses each, and the agent has to tell why.',
  params: z.strictObject({
    on,
    kind: z
      .enum(['expired', 'untrusted', 'other-node'])
      .describe('what is wrong with the certificate'),
    token: z
      .enum(['keep', 'remove'])
      .default('keep')
      .describe('keep: the agent can enrol anew by itself; remove: it needs an operator'),
    authority: z.string().default('api').describe('the part that holds the CA of the nodes'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'node-file',
  plan: ({ kind, token, authority }, node, profile) => {
    const { agentUnit } = nodeNamed(profile, node);
    const other = Object.keys(profile.nodes).find((name) => name !== node) ?? 'node-of-nobody';
    const files = token === 'remove' ? [cert, env] : [cert];
    return {
      summary: `${node} presents a certificate that is ${kind}${token === 'remove' ? ', and has no token to enrol anew' : ''}`,
      cuts: [],
      snapshot: [
        { name: 'saved', do: sh(node, saveFiles, savedDir, ...files) },
        { name: 'request', do: sh(node, requestScript, node) },
        {
          name: 'minted',
          do: withStdin(
            exec(authority, mintScript, kind, node, `/etc/gpuaas-${authority}`, other),
            '{snapshot:request}',
          ),
        },
      ],
      inject: [withStdin(sh(node, injectScript, cert, env, agentUnit, token), '{snapshot:minted}')],
      undo: [sh(node, restoreFiles, savedDir, agentUnit, ...files)],
      active: sh(node, activeScript, cert, kind, node, token === 'remove' ? agentUnit : ''),
      digest: sh(node, digestScript, cert, env, token),
      reaches: 'the agent is restarted: a certificate is shown when a connection begins',
      supersedable: true,
    };
  },
});

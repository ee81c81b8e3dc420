import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { exec, withStdin } from '../../../faults/kit.ts';
import { partDigest, putBack, readFile, reload } from './nginx.ts';

const removeScript = `# remove the host and reload
${reload}
rm "$1" && reload`;

const activeScript = `# whether the host is still served
host=$2; said=$(timeout 3 openssl s_client -quiet -connect 127.0.0.1:443 -servername "$host" 2>/dev/null <<END
GET /healthz HTTP/1.0
host: $host
connection: close

END
)
made=$(echo "$said" | tr -d '\\r' | sed -n 's/^x-gpuaas-product: //Ip'); code=$(echo "$said" | sed -n '1s/^[^ ]* \\([0-9]*\\).*/\\1/p')
echo "$host: $code from \${made:-nobody}"; [ -n "$code" ] || exit 2
[ ! -e "$1" ] || exit 1`;

export const edgeRouteRemove = defineFault({
  name: 'edge.route-remove',
  title: 'The edge no longer knows a public host',
  why: 'A lost route answers too, with something else: a status is no proof that the right service answered.',
  params: z.strictObject({
    host: z.enum(['terminal', 'console', 'apps']).describe('which public host'),
    part: z.string().default('edge').describe('the part that routes'),
  }),
  targetKind: 'part',
  targetParam: 'part',
  undoKind: 'part-file',
  place: ['part', 'host'],
  conflicts: {
    'container.stop': 'a rule inside a stopped container can be neither seen nor undone',
  },
  plan: ({ host }, part) => {
    const file = `/etc/nginx/conf.d/${host}.conf`;
    return {
      summary: `${part} has no route for ${host}`,
      cuts: [],
      snapshot: [{ name: 'file', do: exec(part, readFile, file) }],
      inject: [exec(part, removeScript, file)],
      undo: [withStdin(exec(part, putBack, file), '{snapshot:file}')],
      active: exec(part, activeScript, file, `${host}.gpuaas.test`),
      digest: exec(part, partDigest, file),
      reaches: 'the old worker and its connections are waited for',
    };
  },
});

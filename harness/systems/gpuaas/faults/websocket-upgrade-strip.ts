import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { exec, withStdin } from '../../../faults/kit.ts';
import { partDigest, putBack, readFile, reload } from './nginx.ts';

const stripScript = `# forward without the header
${reload}
case $3 in
  upgrade) sed -e 's/^\\(proxy_set_header upgrade\\) .*/\\1 "";/' -e 's/^\\(proxy_set_header connection\\) .*/\\1 "";/' /etc/nginx/snippets/websocket.conf > "$2" ;;
  *) sed -e 's/^\\(proxy_set_header sec-websocket-protocol\\) .*/\\1 "";/' /etc/nginx/snippets/websocket.conf > "$2" ;;
esac
cmp -s /etc/nginx/snippets/websocket.conf "$2" && { rm "$2"; echo 'nothing to strip' >&2; exit 1; }
sed -i "s|include /etc/nginx/snippets/websocket.conf;|include $2;|" "$1" && reload`;

const snippet = '/etc/nginx/snippets/hopdrill-{run}-{step}.conf';

export const websocketUpgradeStrip = defineFault({
  name: 'websocket.upgrade-strip',
  title: 'The edge loses a header of the WebSocket upgrade',
  why: 'Proxies drop hop-by-hop headers; the refusal comes from the gateway and the fault lies before it.',
  params: z.strictObject({
    strip: z
      .enum(['upgrade', 'subprotocol'])
      .describe('upgrade: Upgrade and Connection; subprotocol: Sec-WebSocket-Protocol'),
    part: z.string().default('edge').describe('the part that forwards'),
  }),
  targetKind: 'part',
  targetParam: 'part',
  undoKind: 'part-file',
  marks: [snippet],
  plan: ({ strip }, part) => {
    const file = '/etc/nginx/conf.d/terminal.conf';
    return {
      summary: `${part} forwards terminal WebSockets without ${strip}`,
      cuts: [],
      snapshot: [{ name: 'file', do: exec(part, readFile, file) }],
      inject: [exec(part, stripScript, file, snippet, strip)],
      undo: [withStdin(exec(part, putBack, file, snippet), '{snapshot:file}')],
      active: exec(
        part,
        '# the running configuration uses ours\nnginx -T 2>/dev/null | grep -F "include $1;" || { echo no; exit 1; }',
        snippet,
      ),
      digest: exec(part, partDigest, file, snippet),
      reaches: 'the old worker and its connections are waited for',
    };
  },
});

import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { exec, withStdin } from '../../../faults/kit.ts';
import { partDigest, putBack, readFile, reload } from './nginx.ts';

/**
 * Server-level rules, as an operator of nginx would write them: method and path both have to fit.
 */
const ruleScript = `# write the rule
rule() {
  printf 'set $hopdrill_refuse "";\\n'
  [ "$1" = ANY ] && printf 'set $hopdrill_refuse "m";\\n' || printf 'if ($request_method = %s) { set $hopdrill_refuse "m"; }\\n' "$1"
  printf 'if ($uri ~ "%s") { set $hopdrill_refuse "\${hopdrill_refuse}p"; }\\nif ($hopdrill_refuse = "mp") { return %s; }\\n' "$2" "$3"
}`;

const includeScript = `# put the rule where the part includes it, and reload
${reload}${ruleScript.replace('# write the rule', '')}
mkdir -p "$(dirname "$1")"; rule "$2" "$3" "$4" > "$1" && reload`;

const insertScript = `# put the rule into the host's file, and reload
${reload}${ruleScript.replace('# write the rule', '')}
rule "$2" "$3" "$4" > "$5" && sed -i "/^ *server_name /r $5" "$1" && rm "$5" && reload`;

const dropScript = `# remove the rule and reload
${reload}
rm -f "$1"; reload`;

const activeScript = `# the running configuration has the rule
nginx -T 2>/dev/null | grep -F "$2" | head -n 1 | grep . || { echo 'no such rule'; exit 1; }`;

const own = '/etc/nginx/node-api.d/hopdrill-{run}-{step}.conf';
const draft = '/etc/nginx/hopdrill-{run}-{step}.rule';

/** `*` stands for one segment of a path; everything else is taken as it is. */
export const pathPattern = (path: string): string =>
  `^${path
    .split('*')
    .map((part) => part.replaceAll(/[.+?^$(){}|[\]\\]/g, '\\$&'))
    .join('[^/]+')}$`;

export const httpRefuse = defineFault({
  name: 'http.refuse',
  title: 'A method and path is refused on the way',
  why: 'A rule in front of a service can cut one call of many: everything looks healthy but that one.',
  params: z.strictObject({
    at: z.enum(['ingress', 'edge']).describe('ingress: what nodes call; edge: what people call'),
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'ANY']).default('ANY').describe('which method'),
    path: z
      .string()
      .regex(/^\/[A-Za-z0-9_./*-]*$/)
      .describe('which path; `*` is one segment'),
    status: z
      .number()
      .int()
      .min(400)
      .max(599)
      .default(503)
      .describe('the answer; 444: none, the connection is closed'),
    host: z
      .enum(['api', 'terminal', 'console', 'apps'])
      .default('api')
      .describe('at the edge: whose path'),
  }),
  targetKind: 'part',
  targetParam: 'at',
  undoKind: 'part-file',
  marks: [own, draft],
  place: ['at', 'host', 'path'],
  plan: ({ method, path, status, host }, part) => {
    const pattern = pathPattern(path);
    const summary = `${part} answers ${method} ${path} with ${status}`;
    const active = exec(part, activeScript, own, pattern);
    const reaches = 'the old worker and its connections are waited for';
    if (part === 'ingress') {
      const inject = [exec(part, includeScript, own, method, pattern, String(status))];
      return {
        summary,
        cuts: [],
        snapshot: [],
        inject,
        undo: [exec(part, dropScript, own)],
        active,
        digest: exec(part, partDigest, own),
        reaches,
      };
    }
    const file = `/etc/nginx/conf.d/${host}.conf`;
    return {
      ...{ summary, cuts: [], active, reaches },
      snapshot: [{ name: 'file', do: exec(part, readFile, file) }],
      inject: [exec(part, insertScript, file, method, pattern, String(status), draft)],
      undo: [withStdin(exec(part, putBack, file, draft), '{snapshot:file}')],
      digest: exec(part, partDigest, file, draft),
    };
  },
});

// Which engine this is, by one plain request: loading the engine's client for one word would cost
// 150 ms.
import { plainRequest } from './plain-http.ts';

let known: Promise<string> | undefined;

/** `no-engine` when none answers: a platform that runs elsewhere has none here. */
export function engineId(env = process.env): Promise<string> {
  known ??= ask(env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').catch(() => 'no-engine');
  return known;
}

function ask(host: string): Promise<string> {
  const where = host.startsWith('unix://')
    ? { socketPath: host.slice('unix://'.length) }
    : new URL(host.replace(/^tcp:/, 'http:'));
  const address = where instanceof URL ? { host: where.hostname, port: where.port } : where;
  return new Promise((resolve, reject) => {
    const call = plainRequest({ ...address, path: '/info', timeout: 3000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        try {
          resolve(
            String(
              (JSON.parse(Buffer.concat(chunks).toString()) as { ID?: string }).ID ?? 'unknown',
            ),
          );
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end();
  });
}

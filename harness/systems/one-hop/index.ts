import { HttpError, request } from '../../drivers/http.ts';
import type { Finding } from '../../preflight/types.ts';
import { type Ask, defineSystem } from '../define.ts';

/** The smallest system: one HTTP service behind one Toxiproxy link, no nodes. */
const causes = ['tcp_refused', 'tcp_reset', 'timeout', 'bad_status'] as const;
const limitMs = 1000;

async function askService(url: string): Promise<Finding> {
  try {
    const { status } = await request({ url, timeoutMs: limitMs });
    if (status === 200) return { status: 'pass', summary: 'the service answers 200' };
    return failed('bad_status', `the service answers ${status}`);
  } catch (error) {
    const code = error instanceof HttpError ? error.code : 'UNKNOWN';
    return failed(
      code === 'ECONNREFUSED' ? 'tcp_refused' : code === 'ETIMEDOUT' ? 'timeout' : 'tcp_reset',
      String((error as Error).message),
    );
  }
}

const failed = (cause: (typeof causes)[number], summary: string): Finding => ({
  status: 'fail',
  signal: 'service_unreachable',
  cause,
  blames: 'link:service',
  summary,
});

const ask: Ask<string> = {
  flags: [{ name: 'url', kind: 'url', help: 'address of the service' }],
  signals: {
    service_unreachable: {
      owner: 'you',
      next: 'look at the link to the service',
      within: () => 5,
      severity: 'P2',
      causes,
    },
  },
  causes: {
    tcp_refused: 'the port is closed',
    tcp_reset: 'the connection breaks',
    timeout: 'no answer in time',
    bad_status: 'not 200',
  },
  resources: { 'link:service': 'the way to the service' },
  hops: [
    {
      id: 'service',
      title: 'the service answers 200',
      section: 'service',
      vantage: 'operator',
      explainedBy: [],
      after: [],
      signals: ['service_unreachable'],
      deadlineMs: () => limitMs + 500,
      skip: () => null,
      run: askService,
    },
  ],
  open: ({ flags }) => String(flags.url),
  policies: () => Promise.resolve({}),
  environment: ({ flags }) => ({ profile: null, url: String(flags.url) }),
  conclude: () =>
    Promise.resolve({
      userState: null,
      userAccess: null,
      scope: null,
      proof: null,
      subject: {},
    }),
  names: { nodes: ['box'], parts: ['box', 'link'], links: ['service'] },
  words: { userStates: [], history: [], page: [] },
  budgets: {
    severity: { P0: 60, P1: 300, P2: 1800, P3: 1800 },
    effect: () => 15,
    lease: () => 10,
    settle: () => 20,
  },
  argv: (profile) => ['--url', profile.endpoints.service ?? ''],
};

export default defineSystem({
  name: 'one-hop',
  ask,
  stack: new URL('../../../fixtures/one-hop/compose.yaml', import.meta.url),
});

import { defineSystem } from '../define.ts';
import { type Asked, hops, open } from './hops.ts';

/** The smallest system that is whole: a service in a box, and the link that leads to it. */
export default defineSystem<Asked>({
  name: 'one-hop',
  ask: {
    flags: [{ name: 'url', kind: 'url', says: 'platform', help: 'address of the service' }],
    signals: {
      service_unreachable: {
        owner: 'you',
        next: 'look at the link to the service',
        within: () => 5,
        severity: 'P2',
        causes: ['tcp_refused', 'tcp_reset', 'timeout', 'bad_status'],
      },
      greeting_wrong: {
        owner: 'you',
        next: 'put the greeting back: see who wrote to the box',
        within: () => 5,
        severity: 'P2',
        causes: ['other_text'],
      },
    },
    causes: {
      tcp_refused: 'the port is closed',
      tcp_reset: 'the connection breaks',
      timeout: 'no answer in time',
      bad_status: 'not 200',
      other_text: 'the file holds something else',
    },
    resources: { 'link:service': 'the way to the service', 'part:box': 'the box itself' },
    examples: ['--url http://127.0.0.1:8080'],
    hops,
    open: ({ flags }) => open(String(flags.url)),
    policies: () => Promise.resolve({}),
    environment: ({ flags }) => ({ profile: null, url: String(flags.url) }),
    conclude: () =>
      Promise.resolve({
        ...{ userState: null, userAccess: null, scope: null, proof: null },
        subject: {},
      }),
    names: { nodes: ['box'], parts: ['box', 'link'], links: ['service'] },
    words: { userStates: ['greeted', 'not_greeted'], history: [], page: [] },
    budgets: {
      severity: { P0: 60, P1: 300, P2: 1800, P3: 1800 },
      effect: () => 15,
      lease: () => 10,
      settle: () => 20,
      userState: () => 5,
    },
    argv: ({ endpoints }) => ['--url', endpoints.service ?? ''],
  },
  see: () => import('./see.ts'),
  break: () => import('./break.ts'),
  stack: new URL('../../../fixtures/one-hop/compose.yaml', import.meta.url),
});

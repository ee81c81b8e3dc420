import { z } from 'zod';
import type { DeploymentSchema } from '../define.ts';

const address = z.url({ protocol: /^https?$/ });
const file = z.string();

export const schema: DeploymentSchema = {
  renamed: {
    file: {
      'public.apiBase': 'endpoints.api',
      'public.terminalBase': 'endpoints.terminal',
      'public.consoleBase': 'endpoints.console',
      'provider.url': 'endpoints.provider',
      'browser.cdpUrl': 'endpoints.browser',
      'credentials.operatorTokenFile': 'credentials.operator',
      'credentials.userTokenFile': 'credentials.user',
      'credentials.edgeCookieFile': 'credentials.edge-cookie',
      pageNotSeen: 'own.pageNotSeen',
    },
    node: { allocation: 'own.allocation', allocationUser: 'own.allocationUser' },
  },
  endpoints: z.strictObject({
    api: address.describe('the public API'),
    terminal: address.describe('the public terminal gateway'),
    console: address.optional().describe('the public console'),
    provider: address.optional().describe('the API of the provider of the nodes'),
    browser: address.optional().describe('CDP address of a browser that opens the console'),
  }),
  credentials: z.strictObject({
    operator: file.optional().describe('operator token'),
    user: file.optional().describe('token of a member of the project'),
    'edge-cookie': file.optional().describe('name=value of the login cookie of the edge'),
  }),
  node: z.strictObject({
    allocation: z.string().describe('an active allocation on this node, for terminal probes'),
    allocationUser: z.string().describe('the user of that allocation on the node'),
  }),
  own: z.strictObject({
    pageNotSeen: z
      .string()
      .optional()
      .describe('why nobody looks at the console, where there is no browser'),
  }),
};

import type { Profile } from '../../records/profile.ts';
import type { OptionalHop } from '../define.ts';
import { factsOf } from './deployment.ts';

/**
 * The preflight's argv for one node of a deployment: the one thing that a run folder needs to
 * repeat it by hand.
 */
export function argvFromProfile(profile: Profile, node: string | null): string[] {
  const name = node ?? Object.keys(profile.nodes)[0];
  const target = name === undefined ? undefined : profile.nodes[name];
  const facts = target && factsOf(target);
  const { endpoints, connect, credentials } = profile;
  const given: (readonly [string, string | number | undefined])[] = [
    ['api-base', endpoints.api],
    ['terminal-base', endpoints.terminal],
    ['allocation-id', facts?.allocation],
    ['node-id', name],
    ['node-host', target?.ssh?.host],
    ['node-user', target?.ssh?.user],
    ['node-ssh-port', target?.ssh?.port],
    ['known-hosts', target?.ssh?.knownHostsFile],
    ['ssh-key', target?.ssh?.keyFile],
    ['agent-user', facts?.agentUser],
    ['agent-unit', facts?.agentUnit],
    ['resolve-address', connect.address],
    ['ca-file', connect.caFile],
    ['operator-token-file', credentials.operator],
    ['user-token-file', credentials.user],
    ['edge-cookie-file', credentials['edge-cookie']],
    ['provider-url', endpoints.provider],
    ['environment', profile.environment],
  ];
  return given.flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}`, String(value)],
  );
}

export const optionalHops: Readonly<Record<string, OptionalHop>> = {
  browser_terminal_page: {
    needs: 'the endpoints browser and console',
    argv: ({ endpoints: { browser, console } }) =>
      browser === undefined || console === undefined
        ? null
        : ['--browser', browser, '--console-base', console],
  },
};

import type { Profile } from '../../records/profile.ts';
import type { OptionalHop } from '../define.ts';

/**
 * The preflight's argv for one node of a deployment: the one thing that a run folder needs to
 * repeat it by hand.
 */
export function argvFromProfile(profile: Profile, node: string | null): string[] {
  const name = node ?? Object.keys(profile.nodes)[0];
  const target = name === undefined ? undefined : profile.nodes[name];
  const { public: open, credentials, provider } = profile;
  const given: (readonly [string, string | number | undefined])[] = [
    ['api-base', open?.apiBase],
    ['terminal-base', open?.terminalBase],
    ['allocation-id', target?.allocation],
    ['node-id', name],
    ['node-host', target?.sshHost],
    ['node-user', target?.sshUser],
    ['node-ssh-port', target?.sshPort],
    ['known-hosts', target?.knownHostsFile],
    ['ssh-key', target?.sshKeyFile],
    ['agent-user', target?.agentUser],
    ['agent-unit', target?.agentUnit],
    ['resolve-address', open?.resolveAddress],
    ['ca-file', open?.caFile],
    ['operator-token-file', credentials.operatorTokenFile],
    ['user-token-file', credentials.userTokenFile],
    ['edge-cookie-file', credentials.edgeCookieFile],
    ['provider-url', provider?.url],
    ['environment', profile.environment],
  ];
  return given.flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}`, String(value)],
  );
}

export const optionalHops: Readonly<Record<string, OptionalHop>> = {
  browser_terminal_page: {
    needs: 'browser and public.consoleBase',
    argv: ({ browser, public: open }) =>
      browser === undefined || open?.consoleBase === undefined
        ? null
        : ['--browser', browser.cdpUrl, '--console-base', open.consoleBase],
  },
};

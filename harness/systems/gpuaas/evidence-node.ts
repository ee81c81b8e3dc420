import { openDocker } from '../../drivers/docker.ts';
import type { EvidenceSource, HookContext } from '../hooks.ts';
import { nodeOf, onNode } from './platform.ts';

/**
 * What is read on the node, all of it in one visit: a connection costs more than what is asked over
 * it.
 */
interface Asked {
  readonly file: string;
  readonly title: string;
  readonly texts: readonly string[];
  /** A line of shell, run as root; what it says on stderr belongs to the evidence. */
  script(context: HookContext): string;
}

const fromEnv = (name: string): string => `$(sed -n 's/^${name}=//p' /etc/gpuaas/env)`;
const seconds = ({ since }: HookContext): number => Math.floor(Date.parse(since) / 1000);

const asked: Readonly<Record<string, Asked>> = {
  'agent-journal': {
    file: 'agent-journal.log',
    title: 'journal of the agent',
    texts: [
      'node-agent poll errors',
      'node-agent auth logs',
      'node-agent result post error',
      'node-agent PTY timing logs',
      'Node-agent PTY/user error',
    ],
    script: (context) =>
      `journalctl -u ${nodeOf(context).node.agentUnit} --since @${seconds(context)} --no-pager -o short-iso-precise -n 2000`,
  },
  'agent-diagnostic': {
    file: 'agent-diagnostic.json',
    title: "the agent's own record",
    texts: [
      'node-agent local diagnostic evidence',
      'node-agent local diagnostic record (server_tls_untrusted)',
    ],
    script: () => 'cat /var/lib/gpuaas/diagnostics/current.json',
  },
  'diagnostic-files': {
    file: 'diagnostic-files.txt',
    title:
      'when and how large the diagnostic record was written, and what the journal says of failed writes',
    texts: ['diagnostic write result'],
    script: (context) =>
      `ls -la --time-style=full-iso /var/lib/gpuaas/diagnostics; journalctl -u ${nodeOf(context).node.agentUnit} --since @${seconds(context)} --no-pager -o cat | grep -iE 'ENOSPC|no space|diagnostic' | tail -n 50; true`,
  },
  'node-disk': {
    file: 'node-disk.txt',
    title: 'file systems of the node',
    texts: ['`df -h /`'],
    script: () => 'df -h /',
  },
  'log-buffers': {
    file: 'log-buffers.txt',
    title: 'what logs and waiting results take on the disk',
    texts: ['journald/log-buffer usage'],
    script: () =>
      'journalctl --disk-usage; du -sh /var/log/journal /run/log/journal /var/lib/gpuaas/* 2>/dev/null; true',
  },
  'unit-state': {
    file: 'unit-state.txt',
    title: 'state of the agent unit and what journald says of it',
    texts: ['journald service state'],
    script: (context) =>
      `systemctl show ${nodeOf(context).node.agentUnit} -p ActiveState,SubState,LoadState,UnitFileState,NRestarts,ExecMainStatus; journalctl _PID=1 UNIT=${nodeOf(context).node.agentUnit} --since @${seconds(context)} --no-pager -o short-iso-precise -n 50`,
  },
  'node-certificate': {
    file: 'node-certificate.txt',
    title: "serial, SAN, issuer and dates of the node's certificate",
    texts: ['cert serial/SAN'],
    script: () =>
      `openssl x509 -in "${fromEnv('GPUAAS_CERT_PATH')}" -noout -serial -subject -issuer -dates -fingerprint -sha256 -ext subjectAltName`,
  },
  'node-endpoints': {
    file: 'node-endpoints.txt',
    title: 'the addresses that the node was configured with, and what they resolve to',
    texts: ['endpoint profile', 'profile URL', 'node endpoint URL'],
    script: () =>
      `grep -E '^GPUAAS_(PROFILE|NODE_ID|[A-Z_]*URL)=' /etc/gpuaas/env; for host in $(sed -n 's|^GPUAAS_[A-Z_]*URL=[a-z]*://\\([^:/]*\\).*|\\1|p' /etc/gpuaas/env); do timeout 2 getent ahostsv4 $host | head -n 1 || echo "$host: not resolved"; done; true`,
  },
};

/** Only where it is asked for: it waits for a handshake that may never come. */
const chain: Asked = {
  file: 'tls-chain.txt',
  title:
    'what the API host presents, checked against the trust bundle of the node, and the issuers in that bundle',
  texts: [
    'TLS probe to API host with current trust bundle (node side)',
    "presented chain against the bundle's issuers",
  ],
  script: () =>
    [
      `url=${fromEnv('GPUAAS_API_URL')}; bundle=${fromEnv('GPUAAS_CA_BUNDLE_PATH')}`,
      'at=$(echo "$url" | sed "s|^[a-z]*://||; s|/.*||; /:/!s|$|:443|"); name=$(echo "$at" | sed "s|:.*||")',
      'timeout 5 openssl s_client -connect "$at" -servername "$name" -verify_hostname "$name" -CAfile "$bundle" -showcerts < /dev/null 2>&1 | grep -vE "Session-ID|Master-Key|Resumption|PSK"',
      'echo "issuers in $bundle:"; openssl crl2pkcs7 -nocrl -certfile "$bundle" | openssl pkcs7 -print_certs -noout',
      'openssl x509 -in "$bundle" -noout -fingerprint -sha256 -dates',
    ].join('; '),
};

const markOf = ({ runId }: HookContext, name: string): string => `===== ${runId} ${name} `;

/**
 * Over SSH; when the fault cut that, over the lifeline, because evidence of a cut node is what is
 * wanted most.
 */
export async function shellOnNode(context: HookContext, script: string): Promise<string> {
  const argv = ['sh', '-c', script];
  try {
    return (await onNode(context, argv)).stdout;
  } catch (error) {
    const { lifeline } = nodeOf(context).node;
    if (lifeline.kind !== 'docker') throw error;
    return (await openDocker().exec(lifeline.container, argv)).stdout;
  }
}

async function visit(context: HookContext): Promise<Map<string, string>> {
  const script = Object.entries(asked).map(
    ([name, one]) =>
      `echo '${markOf(context, name)}'; ( ${one.script(context)} ) 2>&1 || echo "[exit $?]"`,
  );
  const all = await shellOnNode(context, script.join('\n'));
  const found = new Map<string, string>();
  for (const section of all.split(markOf(context, '').trimEnd()).slice(1)) {
    const end = section.indexOf('\n');
    found.set(section.slice(0, end).trim(), section.slice(end + 1));
  }
  return found;
}

const visits = new WeakMap<HookContext, Promise<Map<string, string>>>();

function visited(context: HookContext): Promise<Map<string, string>> {
  const known = visits.get(context) ?? visit(context);
  visits.set(context, known);
  return known;
}

const failure = /^\[exit \d+\]\s*$/m;

/** A command that failed and said nothing else has shown nothing. */
function shown(text: string | undefined): string {
  if (text === undefined) throw new Error('the visit to the node ended before it');
  const said = text.replace(failure, '').trim();
  if (said === '') throw new Error('nothing to read on the node');
  if (failure.test(text)) throw new Error(said.slice(0, 300));
  return text;
}

export const nodeEvidence: Readonly<Record<string, EvidenceSource>> = {
  ...Object.fromEntries(
    Object.entries(asked).map(([name, { file, title, texts }]) => [
      name,
      {
        file,
        title,
        texts,
        collect: async (context: HookContext) => shown((await visited(context)).get(name)),
      },
    ]),
  ),
  'tls-chain': {
    file: chain.file,
    title: chain.title,
    texts: chain.texts,
    onlyWhenAsked: true,
    collect: async (context) => shown(await shellOnNode(context, chain.script(context))),
  },
};

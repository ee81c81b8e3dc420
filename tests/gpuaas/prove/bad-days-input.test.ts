// Bad days that begin before anything is broken: wrong files, a platform that is not healthy or
// never answers, a network that is not there.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { profileFileOf } from '../../../harness/stack/state.ts';
import { byHand, container, docker, hopdrill, say } from '../support/proof.ts';
import { egress, stack, text, usual, wholeAfterEach } from '../support/proof-bad-day.ts';
import { begin, scenarioFile } from '../support/proof-child.ts';
import { sample } from '../support/sampling.ts';

wholeAfterEach();

describe('files', () => {
  const refused = async (source: string): Promise<string[]> => {
    const { exitCode, stderr, stdout } = await hopdrill([
      'run',
      scenarioFile(source),
      '--stack',
      stack,
    ]);
    expect(exitCode, stderr).toBe(64);
    expect(stdout, 'nothing began').toBe('');
    const [heading, ...lines] = stderr.trim().split('\n');
    expect(heading).toMatch(/\d+ mistakes? in scenario files$/);
    for (const line of lines)
      expect(line, 'nothing but mistakes, each with its position').toMatch(
        /bad-day\.yaml:\d+:\d+: /,
      );
    return lines;
  };

  test('three mistakes: all in one pass, with positions', async () => {
    const lines = await refused(
      text({
        faults: '  - egress.blok: { on: node }',
        expect: '  hop: node_heartbeet\n  signal: node_agent_heartbeat_stale',
      }).replace('severity: P1', 'severity: P9'),
    );
    expect(lines.map((line) => /:(\d+:\d+):/.exec(line)?.[1])).toEqual(['4:11', '8:5', '10:8']);
  });

  test('a misspelt key is refused with its nearest spelling', async () => {
    const lines = await refused(
      text({ faults: egress, more: 'rollback: revert\nrepairs: none\n' }),
    );
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/found .*"rollback"/);
    expect(lines[1]).toMatch(/"repairs".*did you mean "repair"/);
  });

  test('a syntax error is one line with its position', async () => {
    const lines = await refused(text({ faults: '  - egress.block: { on: node' }));
    expect(lines).toEqual([
      expect.stringMatching(
        /bad-day\.yaml:9:1: YAML: Flow map in block collection must .*end with a }$/,
      ),
    ]);
  });

  test.for([
    ['a target that does not exist', '  - container.stop: { part: nobody }', /nobody/],
    ['no target at all', '  - container.stop: {}', /part/],
  ] as const)(
    '%s: refused before anything is touched; nothing is ever "all"',
    async ([, faults, pattern]) => {
      const lines = await refused(text({ faults }));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(pattern);
    },
  );
});

describe('a baseline that is not healthy', () => {
  const away = '/etc/nginx/conf.d/terminal.conf';
  const broken = [
    [
      'a route answers 404',
      'terminal_public_route',
      () => byHand('edge', `mv ${away} ${away}.away && nginx -s reload`),
      () => byHand('edge', `mv ${away}.away ${away} && nginx -s reload`),
    ],
    [
      'SSH is down',
      'node_ops_access',
      () =>
        byHand(
          'node-1',
          'iptables -I INPUT -p tcp --syn --dport 22 -m comment --comment by-hand -j REJECT --reject-with tcp-reset',
        ),
      () =>
        byHand(
          'node-1',
          'iptables -D INPUT -p tcp --syn --dport 22 -m comment --comment by-hand -j REJECT --reject-with tcp-reset',
        ),
    ],
  ] as const;
  test.for(sample('broken baselines', broken, 1))(
    '%s: inconclusive, and names the red hop',
    async ([, hop, breakIt, putBack]) => {
      breakIt();
      try {
        const ended = await begin([usual]).end();
        expect(ended.exitCode, ended.stderr).toBe(2);
        expect(ended.record?.reasons).toMatchObject([
          { field: 'baseline', expected: 'healthy', observed: expect.stringContaining(hop) },
        ]);
        expect(ended.record?.stages.map((stage) => stage.stage)).not.toContain('inject');
      } finally {
        putBack();
      }
    },
  );

  test('a target that accepts and never answers: a deadline, and the phase is named', async () => {
    docker('pause', container('edge'));
    const began = performance.now();
    const preflight = await hopdrill(['preflight', '--profile', profileFileOf(stack), '--json']);
    expect([1, 2]).toContain(preflight.exitCode);
    expect(performance.now() - began).toBeLessThan(45_000);
    const report = JSON.parse(preflight.stdout) as {
      hops: {
        id: string;
        status: string;
        summary: string;
        steps: { phase: string; code: string | null }[];
      }[];
    };
    const route = report.hops.find((hop) => hop.id === 'terminal_public_route')!;
    say(`${route.status}: ${route.summary}`);
    expect(route.status).not.toBe('pass');
    expect(`${route.summary} ${JSON.stringify(route.steps)}`).toMatch(/tls|stall|answer/i);
    const ended = await begin([usual]).end();
    expect(ended.exitCode, ended.stderr).toBe(2);
    expect(ended.record?.reasons[0]?.field).toBe('baseline');
    expect(ended.record!.duration_ms).toBeLessThan(60_000);
  });
});

test('no call home: nothing but this machine is ever asked', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'hopdrill-proof-')), 'addresses');
  const env = {
    NODE_OPTIONS: `--import ${join(root, 'tests/support/proof-no-call-home.ts')}`,
    PROOF_ADDRESSES: file,
  };
  for (const words of [
    ['list'],
    ['explain', 'node_heartbeat'],
    ['plan', 'node-agent/ops-ssh-refused', '--stack', stack],
  ]) {
    const { exitCode, stderr } = await hopdrill(words, env);
    expect(exitCode, stderr).toBe(0);
  }
  const ended = await begin(['scenarios/gpuaas/node-agent/ops-ssh-refused.yaml'], env).end();
  expect(ended.exitCode, ended.stderr).toBe(0);
  const asked = [...new Set(readFileSync(file, 'utf8').trim().split('\n'))];
  expect(asked.length, 'the watcher saw the run').toBeGreaterThan(2);
  expect(
    asked.filter(
      (line) => !/^(connect|connected|lookup) (127\.0\.0\.1|::1|localhost|\/.*)$/.test(line),
    ),
  ).toEqual([]);
});

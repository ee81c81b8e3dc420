// A hop that was late, and what a second look at the ways of the node says about it.
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../harness/preflight/types.ts';
import type { Session } from '../../../harness/systems/gpuaas/probe/session.ts';
import { parseFacts, type Visit } from '../../../harness/systems/gpuaas/probe/visit.ts';
import {
  allWays,
  chargedTo,
  everySlowWay,
  noSecondLook,
  secondLook,
  type Way,
} from '../../../harness/systems/gpuaas/probe/ways.ts';
import { withWord } from '../../../harness/systems/gpuaas/probe/word.ts';

const late: Finding = { status: 'fail', cause: 'no_stream', summary: 'no stream came' };
const lossy: Way = { name: 'term', cause: 'packet_loss', detail: '5 of 48 were lost' };
const slowTerm: Way = { name: 'term', cause: 'slow_link', detail: 'one answer took 2000 ms' };
const slowApi: Way = { name: 'api', cause: 'slow_link', detail: 'one answer took 2000 ms' };

describe('a late hop', () => {
  it('is charged to the way that loses packets, though another was asked first', () => {
    expect(chargedTo(late, [lossy], allWays).charges).toMatchObject({
      hop: 'node_terminal_reachability',
      finding: {
        signal: 'terminal_node_stream_timeout',
        cause: 'packet_loss',
        blames: 'link:term',
      },
    });
  });
  it('is charged to the way to the API where both are slow and both may have taken the time', () => {
    expect(chargedTo(late, [slowApi, lossy], allWays).charges?.hop).toBe(
      'node_runtime_api_reachability',
    );
  });
  it('is not charged to a way that its time did not go', () => {
    expect(chargedTo(late, [slowApi], ['term'])).not.toHaveProperty('charges');
  });
  it('keeps a slow listener unless it says that any slow way is to blame', () => {
    expect(chargedTo(late, [slowTerm], ['term'])).not.toHaveProperty('charges');
    expect(chargedTo(late, [slowTerm], ['term'], everySlowWay).charges?.finding.cause).toBe(
      'slow_link',
    );
  });
  it('stays itself where no way is slow', () => {
    const well: Way = { name: 'term', cause: null, detail: 'the longest answer took 30 ms' };
    const found = chargedTo(late, [well], allWays);
    expect(found).toMatchObject({ ...late, evidence: [{ kind: 'second_look', value: [well] }] });
    expect(found).not.toHaveProperty('charges');
  });
  it('is unsure of itself where the node did not answer', () => {
    expect(chargedTo(late, null, allWays)).toEqual({ ...late, doubts: [noSecondLook] });
  });
});

describe("the agent's word of a silent API", () => {
  const passed: Finding = { status: 'pass', summary: 'the API answered the probe' };
  const saying = (cause: string, ways: readonly Way[] | null) =>
    ({
      word: async () => ({
        ...{ hop: 'node_runtime_api_reachability', signal: 'node_agent_api_unreachable', cause },
        ...{ blames: 'link:node-api', said: 'that nothing came', doubt: null, record: {} },
      }),
      secondLook: async () => ways,
    }) as unknown as Session;
  const told = (session: Session) => withWord(session, 'node_runtime_api_reachability', passed);
  const kinds = ({ evidence = [] }: Finding) => evidence.map(({ kind }) => kind);

  it('is explained by the way, with what was measured of it', async () => {
    const found = await told(saying('tcp_timeout', [slowApi]));
    expect(found).toMatchObject({ status: 'fail', cause: 'slow_link' });
    expect(found.evidence?.at(-1)).toMatchObject({ kind: 'second_look', value: [slowApi] });
    expect(found).not.toHaveProperty('doubts');
  });
  it('stays its own where the way is well, and is unsure where the node did not answer', async () => {
    const well: Way = { name: 'api', cause: null, detail: 'the longest answer took 30 ms' };
    expect(await told(saying('tcp_timeout', [well]))).toMatchObject({ cause: 'tcp_timeout' });
    const unsure = await told(saying('tcp_timeout', null));
    expect(unsure).toMatchObject({ cause: 'tcp_timeout', doubts: [noSecondLook] });
    expect(kinds(unsure)).toEqual(['agent_record']);
  });
  it('asks for no second look where the agent was answered', async () => {
    const found = await told(saying('dns_failed', null));
    expect(found).toMatchObject({ cause: 'dns_failed' });
    expect(found).not.toHaveProperty('doubts');
    expect(kinds(found)).toEqual(['agent_record']);
  });
});

describe('a second look', () => {
  const dialled = (name: string, port: number) =>
    `${name}|url|https://${name}.test:${port}\n${name}|endpoint|${name}.test:${port}\n${name}|phase|tls\n${name}|addresses|10.0.0.1\n`;
  const facts = (text: string) => parseFacts(text.replaceAll('|', '\t'));
  const visit = (answer: string | null): Visit => ({
    ...{ ssh: { ok: true }, host: 'node', connectMs: 1, totalMs: 1, probeError: null },
    ...{ clockOffsetMs: 0, clockErrorMs: 1, readRecord: async () => null },
    sections: facts(`${dialled('api', 443)}${dialled('term', 18443)}`),
    knock: async (ways) => {
      expect(ways).toEqual(['api 10.0.0.1 443', 'term 10.0.0.1 18443']);
      return answer === null ? null : facts(answer);
    },
  });
  const causes = async (answer: string | null) =>
    (await secondLook(visit(answer)))?.map(({ cause }) => cause) ?? null;

  it('tells loss from delay, and a way that is well from both', async () => {
    const api = 'api|knocks|48/48\napi|handshake_ms|30\n';
    expect(await causes(`${api}term|knocks|30/48\nterm|handshake_ms|2000\n`)).toEqual([
      null,
      'packet_loss',
    ]);
    expect(await causes(`${api}term|knocks|48/48\nterm|handshake_ms|2000\n`)).toEqual([
      null,
      'slow_link',
    ]);
  });
  it('does not call a way well on which nothing came about', async () => {
    const seen = await secondLook(visit('api|knocks|48/48\nterm|knocks|0/48\n'));
    expect(seen?.[1]?.detail).toContain('0 of 48 new connections came about at once');
  });
  it('is none when it is not answered, or only for one way', async () => {
    expect(await causes(null)).toBeNull();
    expect(await causes('api|knocks|48/48\nterm|handshake_ms|30\n')).toBeNull();
  });
});

// A hop that was late, and what a second look at the ways of the node says about it.
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../harness/preflight/types.ts';
import { parseFacts, type Visit } from '../../harness/systems/gpuaas/probe/visit.ts';
import {
  allWays,
  chargedTo,
  everySlowWay,
  noSecondLook,
  secondLook,
  type Way,
} from '../../harness/systems/gpuaas/probe/ways.ts';

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

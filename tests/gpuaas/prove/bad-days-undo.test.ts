// Bad days on which taking a fault back does not work: it is refused, hangs, raises, or says that
// it worked and did not.
import { describe, expect, test } from 'vitest';
import { openToxiproxy } from '../../../harness/drivers/toxiproxy.ts';
import { openEngine } from '../../../harness/undo/engine.ts';
import {
  byHand,
  container,
  docker,
  drill,
  hopdrill,
  one,
  profileOfSuite,
} from '../support/proof.ts';
import {
  egress,
  mend,
  rules,
  stack,
  tamper,
  text,
  usual,
  wholeAfterEach,
} from '../support/proof-bad-day.ts';
import { begin, type Ended, scenarioFile } from '../support/proof-child.ts';
import { sample } from '../support/sampling.ts';

wholeAfterEach();

const ways = [
  'is dirty, exit 3, names what is left and the command that removes it',
  'by a timeout: dirty, and the other undos still run',
  'by a refusal: dirty, and the other undos still run',
  'by a 404: the proxy was deleted by hand',
  'by false: its commands succeed, and the thing is not as it was',
  'by an error that it raises: the container has another name; the other undos still run',
] as const;
const chosen = sample('undos that fail', ways, 2);
const way = (name: (typeof ways)[number], work: () => Promise<void>): void => {
  if (chosen.includes(name)) test(name, work);
};

describe('an undo that fails', () => {
  way('is dirty, exit 3, names what is left and the command that removes it', async () => {
    const run = begin([usual]);
    await run.at('effect', 'done');
    tamper('-D', 'echo refused >&2; exit 4');
    const ended = await run.end();
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.record?.verdict).toBe('dirty');
    expect(ended.record?.leftovers[0]).toContain('egress.block on node:node-1');
    expect(ended.record?.leftovers.at(-1)).toBe('to remove it: ./hopdrill undo');
    // Recovery is judged after the undo, and by asking: an undo that did not heal is no recovery.
    expect(ended.record?.recovery?.after_ms).toBeNull();
    expect(await rules()).toHaveLength(1);
    const refused = await hopdrill(['undo', '--stack', stack]);
    expect([refused.exitCode, refused.stdout.includes('unproven: 1')]).toEqual([3, true]);
    mend();
    expect((await hopdrill(['undo', '--stack', stack])).exitCode).toBe(0);
  });

  const both = `  - edge.route-remove: { host: terminal }\n${egress}`;

  way('by a timeout: dirty, and the other undos still run', async () => {
    const run = begin([scenarioFile(text({ faults: both }))]);
    await run.at('effect', 'done');
    tamper('-D', 'sleep 45; exit 4');
    const ended = await run.end();
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.record?.verdict).toBe('dirty');
    expect(ended.record?.leftovers.filter((left) => left.includes('edge.route-remove'))).toEqual(
      [],
    );
    expect(ended.record?.leftovers[0]).toContain('egress.block on node:node-1');
    expect(byHand('edge', 'ls /etc/nginx/conf.d')).toContain('terminal.conf');
    expect(
      ended.record?.repairs.find((repair) => repair.name.includes('egress.block'))?.detail,
    ).toMatch(/time|deadline|within|not answer/i);
  });

  way('by a refusal: dirty, and the other undos still run', async () => {
    const run = begin([
      scenarioFile(
        text({
          faults: both,
          expect:
            '  hop: node_runtime_api_reachability\n  signal: node_agent_api_unreachable\n  also: [terminal_public_route]',
        }),
      ),
    ]);
    await run.at('observe', 'done');
    docker('pause', container('edge'));
    const ended = await run.end();
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.record?.verdict).toBe('dirty');
    expect(ended.record?.leftovers[0]).toContain('edge.route-remove on part:edge');
    expect(await rules(), 'the rule on the node is gone').toEqual([]);
  });

  /**
   * A run whose undo meets what `meddle` did; then an operator's `hopdrill undo`, before and after
   * the hand has put its own work right.
   */
  async function meddled(
    scenario: string,
    meddle: () => unknown,
    putRight: () => unknown,
  ): Promise<{ ended: Ended; ruled: string[] }> {
    const run = begin([scenarioFile(scenario.replace('within: 25s', 'within: 5s'))]);
    await run.at('effect', 'done');
    await meddle();
    const ended = await run.end();
    const ruled = await rules();
    const refused = await hopdrill(['undo', '--stack', stack]);
    await putRight();
    const undone = await hopdrill(['undo', '--stack', stack]);
    expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([3, 'dirty']);
    expect(ended.record?.leftovers.at(-1)).toBe('to remove it: ./hopdrill undo');
    expect([refused.exitCode, undone.exitCode], `${refused.stdout}\n${undone.stdout}`).toEqual([
      3, 0,
    ]);
    return { ended, ruled };
  }

  way('by a 404: the proxy was deleted by hand', async () => {
    const url = profileOfSuite().links!.toxiproxy;
    const name = 'node-1.term';
    const { listen, upstream } = await openToxiproxy(url).read(name);
    const body = JSON.stringify({ name, listen, upstream, enabled: true });
    const { ended } = await meddled(
      text({
        faults: '  - link.cut: { link: node.term, how: blackhole }',
        expect: '  hop: node_terminal_reachability\n  signal: terminal_node_stream_timeout',
      }),
      () => fetch(`${url}/proxies/${name}`, { method: 'DELETE' }),
      () => fetch(`${url}/proxies`, { method: 'POST', body }),
    );
    expect(ended.record?.leftovers[0]).toMatch(/^link\.cut on link:node-1\.term: .*404/);
  });

  way('by false: its commands succeed, and the thing is not as it was', async () => {
    const usermod = '/usr/sbin/usermod';
    const { ended } = await meddled(
      text({
        faults: '  - user.shell: { on: node, shell: /bin/false }',
        expect: '  hop: workload_terminal_startup_failure\n  signal: terminal_pty_failed',
      }),
      () => byHand('node-1', `mv ${usermod} ${usermod}.away && ln -s /bin/true ${usermod}`),
      () => byHand('node-1', `mv -f ${usermod}.away ${usermod}`),
    );
    // The undo itself has nothing to complain of; reading back has.
    expect(ended.record?.repairs).toMatchObject([{ ok: true }]);
    expect(ended.record?.leftovers[0]).toMatch(
      /^user\.shell on node:node-1: ambiguous: the digest differs: .*\/bin\/false.* instead of .*\/bin\/bash/,
    );
  });

  way(
    'by an error that it raises: the container has another name; the other undos still run',
    async () => {
      const redis = container('redis');
      const { ended, ruled } = await meddled(
        text({
          faults: `${egress}\n  - container.stop: { part: redis }`,
          expect:
            '  hop: node_runtime_api_reachability\n  signal: node_agent_api_unreachable\n  also: [browser_terminal_ws]',
        }),
        () => docker('rename', redis, `${redis}-away`),
        () => docker('rename', `${redis}-away`, redis),
      );
      expect(ended.record?.leftovers[0]).toMatch(
        /^container\.stop on part:redis: .*No such container/,
      );
      expect(ended.record?.readback.slice(0, 2)).toMatchObject([{ ok: true }, { ok: false }]);
      expect(ruled, 'the rule on the node is gone').toEqual([]);
    },
  );
});

test('after an injection that broke midway only our undo runs, and the node is whole', async () => {
  const scenario = await one('node-agent/cert-expired-no-token');
  const broken: typeof openEngine = (options) =>
    openEngine({
      ...options,
      onPoint(point) {
        if (point === 'injected') throw new Error('the connection broke');
      },
    });
  const record = await drill(scenario, { openEngine: broken });
  expect(record.verdict, JSON.stringify(record.reasons)).toBe('inconclusive');
  // A procedure would have issued another certificate, and the undo would put the old one over it.
  expect(record.repairs.map(({ name, ok }) => [name, ok])).toEqual([
    ['undo tls.client-cert on node:node-1', true],
  ]);
  expect(record.leftovers).toEqual([]);
  expect(record.recovery).toMatchObject({ recovered: true });
});

test('a prior state that cannot be read is inconclusive, and no failure of anybody', async () => {
  const faults = '  - user.remove: { on: node, user: nobody-of-that-name }';
  const record = await drill(await one(scenarioFile(text({ faults }))));
  expect([record.verdict, record.reasons.map(({ field }) => field)]).toEqual([
    'inconclusive',
    ['inject'],
  ]);
  expect(record.leftovers).toEqual([]);
});

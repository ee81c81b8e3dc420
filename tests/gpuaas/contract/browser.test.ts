import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  ConsolePage,
  ConsoleState,
} from '../../../harness/systems/gpuaas/probe/console-page.ts';
import { atConsole, pictures } from '../support/person.ts';
import { World } from '../support/world.ts';

interface Broken {
  readonly breakIt: () => Promise<unknown>;
  readonly putBack: () => Promise<unknown>;
}

const sizeIn = (text: string): string[] =>
  [...text.matchAll(/^(\d+ \d+)$/gm)].map((match) => match[1]!);

/**
 * The page resizes the terminal when it becomes ready; what is asked before that has settled tells
 * the old size.
 */
async function askSize(page: ConsolePage): Promise<string> {
  const before = sizeIn(await page.terminalText()).length;
  await page.type('stty size\n');
  const text = await page.waitForText(new RegExp(`(?:^\\d+ \\d+$[^]*){${before + 1}}`, 'm'), 5000);
  return sizeIn(text).at(-1)!;
}

async function useTerminal(world: World, node: string): Promise<void> {
  const user = world.profile.nodes[node]!.own.allocationUser;
  const uid = (await world.must(node, `id -u ${user}`)).trim();
  const picture = join(pictures, `console-${node}.png`);
  rmSync(picture, { force: true });
  const page = await atConsole(world, node);
  try {
    const shown = await page.waitFor(({ state }) => state === 'ready' || state === 'error', 20_000);
    expect(shown).toMatchObject({ state: 'ready', message: '' });
    expect(shown?.correlationId).toMatch(/^[A-Za-z0-9._-]{8,80}$/);

    await page.type('id; pwd\n');
    const text = await page.waitForText(/^\/home\/\S+$/m, 5000);
    expect(text).toMatch(new RegExp(`^uid=${uid}\\(${user}\\)`, 'm'));
    expect(text).toMatch(new RegExp(`^/home/${user}$`, 'm'));

    const before = await askSize(page);
    await page.resize(1000, 420);
    await expect.poll(() => askSize(page), { timeout: 5000 }).not.toBe(before);
    writeFileSync(picture, await page.screenshot());
    expect(existsSync(picture)).toBe(true);

    await page.type('exit\n');
    expect(await page.waitFor(({ state }) => state === 'closed', 5000), 'closed').toMatchObject({
      code: 'exit',
    });
    expect(page.sockets.map(({ status }) => status)).toEqual([101]);
  } finally {
    await page.close();
  }
}

describe('a real browser', () => {
  const world = new World();
  const nodes = Object.keys(world.profile.nodes);

  test('signs in, types in a shell and resizes it, on both nodes at once', async () => {
    await world.untilGreen();
    expect(nodes).toHaveLength(2);
    await Promise.all(nodes.map((node) => useTerminal(world, node)));
  });

  test('pastes more than one message may hold, and nothing is lost', async () => {
    const page = await atConsole(world, 'node-1');
    try {
      expect(await page.waitFor(({ state }) => state === 'ready', 15_000)).not.toBeNull();
      await page.type('stty -echo; echo to""ld; wc -c\n');
      await page.waitForText(/^told$/m, 5000);
      await page.paste(`${'x'.repeat(99)}\n`.repeat(1500));
      await page.type('\u0004');
      await page.waitForText(/^150000$/m, 10_000);
    } finally {
      await page.close();
    }
  });

  test('is told in plain words what happened to a token that was used', async () => {
    const minted = (
      await world.api(
        'POST',
        `/v1/allocations/${world.allocationOf('node-1')}/terminal-token`,
        world.userToken,
      )
    ).json;
    const answer = {
      token: minted.token as string,
      correlationId: minted.correlation_id as string,
    };
    const first = await atConsole(world, 'node-1', { minted: answer });
    try {
      expect(await first.waitFor(({ state }) => state === 'ready', 15_000)).not.toBeNull();
    } finally {
      await first.close();
    }
    const again = await atConsole(world, 'node-1', { minted: answer });
    try {
      const shown = await again.waitFor(({ state }) => state === 'error', 15_000);
      expect(shown).toMatchObject({
        code: 'terminal_token_used',
        correlationId: answer.correlationId,
      });
      expect(shown?.message).toMatch(/used before/);
      expect(shown?.next).toMatch(/new terminal/);
      expect(again.sockets.map(({ status }) => status)).toEqual([409]);
    } finally {
      await again.close();
    }
  });

  test('is told what the gateway says when the node does not connect', async () => {
    await world.must('node-1', 'iptables -I OUTPUT -p tcp --dport 18443 -j DROP');
    const page = await atConsole(world, 'node-1');
    try {
      const shown = await page.waitFor(({ state }) => state === 'error', 15_000);
      const frame = page.sockets[0]!.texts.map((text) => JSON.parse(text)).find(
        ({ type }) => type === 'error',
      );
      expect(frame).toMatchObject({ code: 'node_stream_timeout' });
      expect(shown).toMatchObject({
        code: frame.code,
        message: frame.message,
        next: frame.next,
        correlationId: frame.correlation_id,
      });
    } finally {
      await page.close();
      await world.must('node-1', 'iptables -D OUTPUT -p tcp --dport 18443 -j DROP');
    }
    await world.untilGreen();
  });

  /** What the page says while something is broken; it is put back whatever the page says. */
  async function shownWhile(broken: Broken, signsIn = true): Promise<ConsoleState | null> {
    await broken.breakIt();
    try {
      const page = await atConsole(world, 'node-1', { signsIn });
      try {
        return await page.waitFor(({ state }) => state === 'error', 20_000);
      } finally {
        await page.close();
      }
    } finally {
      await broken.putBack();
    }
  }

  test('is told that the allocation user is gone', async () => {
    const user = world.profile.nodes['node-1']!.own.allocationUser;
    const entry = (await world.must('node-1', `getent passwd ${user}`)).trim();
    const shown = await shownWhile({
      breakIt: () => world.must('node-1', `sed -i '/^${user}:/d' /etc/passwd`),
      putBack: () => world.must('node-1', `echo '${entry}' >> /etc/passwd`),
    });
    expect(shown).toMatchObject({ code: 'pty_failed' });
    expect(shown?.message).toMatch(/user does not exist/);
    expect(shown?.next).toMatch(/provision the allocation user/);
    expect(shown?.correlationId).toMatch(/^web-/);
    await world.untilGreen();
  });

  test('is told that terminal sessions cannot be bound, and the gateway knows it under the same correlation id', async () => {
    const since = new Date();
    const redis = world.container('redis');
    const shown = await shownWhile({
      breakIt: () => world.docker('stop', '-t', '2', redis),
      putBack: () => world.docker('start', redis),
    });
    expect(shown).toMatchObject({ code: 'session_binding_unavailable' });
    expect(shown?.next).toMatch(/Try again/);
    const line = (await world.log('gateway', since))
      .split('\n')
      .find((text) => text.includes('"browser_refused"'));
    expect(JSON.parse(line!)).toMatchObject({
      code: 'session_binding_unavailable',
      correlation_id: shown?.correlationId,
    });
    await world.untilGreen();
  });

  test.for([
    ['a script of the terminal', 'vendor/xterm.mjs'],
    ['a script of the page', 'mint.js'],
  ])('is told that the page is broken when %s is missing', async ([, file]) => {
    const path = `/opt/gpuaas/releases/console-current/${file}`;
    const breakIt = () => world.must('edge', `mv ${path} ${path}.kept`);
    const shown = await shownWhile(
      { breakIt, putBack: () => world.must('edge', `mv ${path}.kept ${path}`) },
      false,
    );
    expect(shown).toMatchObject({ code: 'page_incomplete', text: 'Not connected' });
    expect(shown?.message).toMatch(/could not be loaded/);
    expect(shown?.next).toMatch(/Reload/);
  });
});

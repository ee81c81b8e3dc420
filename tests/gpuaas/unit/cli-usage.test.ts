// Every command: examples and exit codes in its help, and for each mistake one line that says what
// to do.
import { describe, expect, test } from 'vitest';
import { main } from '../../../harness/cli/main.ts';
import { run as report } from '../../../harness/cli/report.ts';

const commands = [
  'run',
  'list',
  'explain',
  'plan',
  'preflight',
  'stop',
  'undo',
  'up',
  'down',
  'doctor',
  'report',
  'status',
];

async function said(argv: readonly string[]): Promise<{ code: number; text: string }> {
  const written: string[] = [];
  const { write } = process.stdout;
  process.stdout.write = ((text: string) => written.push(text) > 0) as typeof write;
  try {
    return { code: await main(argv), text: written.join('') };
  } finally {
    process.stdout.write = write;
  }
}

test.each(commands)('%s --help has usage, examples and exit codes', async (command) => {
  const { code, text } = await said([command, '--help']);
  expect(code).toBe(0);
  expect(text).toMatch(new RegExp(`^Usage: hopdrill ${command}`));
  expect(text).toMatch(new RegExp(`Examples:\\n  hopdrill ${command}`));
  expect(text).toMatch(/Exit codes: 0.*64 wrong usage/s);
});

describe('a mistake says what was meant and what to do', () => {
  test.each([
    [
      ['plan', '--stak', 'x', '--json'],
      /plan: unknown option --stak, did you mean --stack\?.*hopdrill plan --help/,
    ],
    [['list', '--jso'], /did you mean --json\?/],
    [['run', '--shufle=7'], /did you mean --shuffle\?/],
    [['status', '-j'], /unknown option -j.*There are: --json/],
    [['status', 'x'], /Unexpected argument 'x'.*hopdrill status --help/],
    [['run', '--severity', 'P9'], /--severity P9 .*P0, P1, P2, P3/],
    [['run', '--tag', 'nope', '--dry-run'], /--tag nope.*egress/],
    [
      ['run', 'node-agent/servce-stopped'],
      /did you mean node-agent\/service-stopped\?.*hopdrill list/,
    ],
    [['plan', '--profile', '/nowhere.yaml'], /no such file.*docs\/your-own-platform/],
    [['plan', '--profile', 'package.json'], /docs\/your-own-platform.*version: found/s],
    [
      ['plan', '--stack', 'no-such-stack'],
      /no such stack is up.*hopdrill up --stack no-such-stack/,
    ],
    [['explain', 'node_heartbeet'], /did you mean node_heartbeat\?.*hopdrill list/],
  ])('%j', async (argv, words) => {
    const error = await main(argv).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 64 });
    expect((error as Error).message).toMatch(words);
  });
  test.each([
    [['--last', 'x'], /--last x: a whole number/],
    [['--since', 'yesterday'], /--since yesterday: a time like/],
    [['/nowhere'], /\/nowhere is no run folder/],
  ])('report %j', (argv, words) => expect(() => report(argv)).toThrow(words));
});

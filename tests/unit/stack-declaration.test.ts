// What a compose file says to hopdrill: wrong things are told all at once, with place and what is
// allowed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readStackFile } from '../../harness/stack/read-declaration.ts';
import { fill, joined } from '../../harness/stack/template.ts';

const folder = mkdtempSync(join(tmpdir(), 'declaration-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function mistakesOf(text: string): string[] {
  const file = join(folder, 'compose.yaml');
  writeFileSync(file, text);
  try {
    readStackFile(file);
    return [];
  } catch (error) {
    expect(error).toMatchObject({ exitCode: 64 });
    return (error as Error).message.replaceAll(`${file}:`, '').split('\n').slice(1);
  }
}

describe('a compose file', () => {
  test('with several wrong words names each', () => {
    const found = mistakesOf(`services: { api: { image: x }, db: { image: y } }
x-hopdrill:
  ports: { public: API_PORT }
  policies: { variable: SET, sets: { fast: nowhere.yaml } }
  options: { page: { help: with a page } }
  images:
    mine: { option: pge, dockerfile: Dockerfile, context: ., inputs: [.], from: { BASE: hopdrill-bas } }
  fetch: ['bd:/secrets']
  ssh-nodes: { node: publc }
  profile: { parts: { api: { container: <container.ap> } }, endpoints: { api: 'http://127.0.0.1:<port.public>', x: <ports.public> } }
`);
    expect(found.map((line) => line.replace(/ *from .*$/, ''))).toEqual([
      '4:44: x-hopdrill.policies.sets.fast: found "nowhere.yaml"; allowed: a path',
      '7:11: x-hopdrill.images.mine: found "Dockerfile"; allowed: a path',
      '7:21: x-hopdrill.images.mine.option: found option "pge"; allowed: page; did you mean "page"',
      expect.stringMatching(
        /images.mine.from.BASE: found image "hopdrill-bas"; allowed: hopdrill-base, hopdrill-toxiproxy; did you mean "hopdrill-base"$/,
      ),
      expect.stringMatching(/fetch.0: found part "bd"; allowed: api, db/),
      expect.stringMatching(/ssh-nodes.node: found part "node"; allowed: api, db/),
      expect.stringMatching(
        /ssh-nodes.node: found port "publc"; allowed: public; did you mean "public"/,
      ),
      expect.stringMatching(
        /container: found container "ap"; allowed: api, db; did you mean "api"/,
      ),
      expect.stringMatching(/endpoints.x: found <ports.public>; allowed: <port.NAME>/),
    ]);
  });

  test('of a form that is close to one of several is told what that one lacks', () => {
    const found = mistakesOf(`services: {}
x-hopdrill:
  images:
    mine: { tag: TAG, dockerfil: Dockerfile, context: ., inputs: [.] }
  profile: {}
`);
    expect(found).toEqual([
      '4:5: x-hopdrill.images.mine: found no "dockerfile"; allowed: a text',
      expect.stringMatching(
        /^4:23: x-hopdrill.images.mine.dockerfil: found unknown key "dockerfil"; allowed: .*; did you mean "dockerfile"$/,
      ),
    ]);
  });

  test('of a wrong form is told by its form first', () => {
    expect(
      mistakesOf('services: {}\nx-hopdrill:\n  port: { public: API_PORT }\n  fetch: [secrets]\n'),
    ).toEqual([
      expect.stringMatching(/x-hopdrill: found no "profile"/),
      expect.stringMatching(/port: found unknown key "port"; .*did you mean "ports"/),
      expect.stringMatching(/fetch.0: .*part:\/folder/),
    ]);
  });

  test('without x-hopdrill, or that is no YAML, says so', () => {
    expect(mistakesOf('services: {}\n').join()).toMatch(/x-hopdrill/);
    expect(mistakesOf('services: {').join()).toMatch(/YAML/);
  });
});

describe('a profile template', () => {
  const fillings = {
    port: { api: 21_000 },
    network: { core: '198.18.0' },
    container: { db: 'x-db-1' },
  };
  test('a word alone is what it stands for, a word in a text is written into it', () => {
    expect(
      fill({ a: '<port.api>', b: ['http://h:<port.api>', '<network.core>.20'] }, fillings),
    ).toEqual({
      a: 21_000,
      b: ['http://h:21000', '198.18.0.20'],
    });
  });
  test('what an option adds is joined key by key', () => {
    expect(joined({ a: { b: 1, c: 2 }, d: [1] }, { a: { c: 3 }, d: [2] })).toEqual({
      a: { b: 1, c: 3 },
      d: [2],
    });
  });
});

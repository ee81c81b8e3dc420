import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openRunFolder } from '../../harness/run-tools/folder.ts';
import { type Handle, openHandles } from '../../harness/run-tools/handles.ts';
import { folderListener, tellAll } from '../../harness/run-tools/listeners.ts';
import { openRecordBook } from '../../harness/run-tools/record-book.ts';
import { startClock } from '../../harness/run-tools/steps.ts';
import { run } from './unjudged-run.ts';

const home = mkdtempSync(join(tmpdir(), 'hopdrill-tools-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('handles', () => {
  const closedInOrder: string[] = [];
  const handle = (name: string, over: Partial<Handle<string>> = {}): Handle<string> => ({
    name,
    withinMs: 5000,
    open: () => Promise.resolve(name),
    close: (opened) => {
      closedInOrder.push(opened);
      return Promise.resolve(undefined);
    },
    ...over,
  });

  test('are closed once, in reverse order, and each says what it could not prove', async () => {
    const handles = openHandles();
    closedInOrder.length = 0;
    await handles.open(handle('lock'));
    await handles.open(handle('faults', { close: () => Promise.resolve(['a rule']) }));
    await handles.open(handle('audit'));
    expect(await handles.close()).toEqual(['a rule']);
    expect(closedInOrder).toEqual(['audit', 'lock']);
    expect(await handles.close(), 'once').toEqual(['a rule']);
    expect(closedInOrder).toHaveLength(2);
  });

  test('that hang or throw are named, and the others are closed all the same', async () => {
    const handles = openHandles();
    closedInOrder.length = 0;
    await handles.open(handle('lock'));
    await handles.open(handle('hangs', { withinMs: 20, close: () => new Promise(() => {}) }));
    await handles.open(handle('throws', { close: () => Promise.reject(new Error('no answer')) }));
    expect(await handles.close()).toEqual(['throws: no answer', 'hangs: not closed within 0 s']);
    expect(closedInOrder).toEqual(['lock']);
  });

  test('that are still being opened are awaited; those that never opened are not closed', async () => {
    const handles = openHandles();
    closedInOrder.length = 0;
    const open = Promise.withResolvers<string>();
    void handles.open(handle('slow', { open: () => open.promise }));
    await handles
      .open(handle('refused', { open: () => Promise.reject(new Error('locked')) }))
      .catch(() => undefined);
    const closing = handles.close();
    open.resolve('slow');
    expect(await closing).toEqual([]);
    expect(closedInOrder).toEqual(['slow']);
  });
});

const words = { scenario: 'a', run_id: 'r' };
const plain = (text: string): string => text;

describe('listeners', () => {
  test('that throw stop neither the others nor the step, and are kept', async () => {
    const heard: string[] = [];
    const { tell, failures } = tellAll([
      { event: () => throwing() },
      { event: (event) => heard.push(event.event) },
    ]);
    const clock = startClock(words, plain, tell);
    expect(await clock.time('observe', () => Promise.resolve(7), {})).toBe(7);
    expect(heard).toEqual(['stage', 'stage']);
    expect(failures.map(({ message }) => message)).toEqual(['broken', 'broken']);
  });
  const throwing = (): never => {
    throw new Error('broken');
  };

  test('the folder has each item and part before the call returns', () => {
    const folder = openRunFolder(home, 'run', plain);
    const listener = folderListener(folder);
    listener.item?.('observations', { hop: 'h' });
    listener.part?.('teardown', ['rule']);
    expect(readFileSync(join(folder.dir, 'observations.jsonl'), 'utf8')).toBe('{"hop":"h"}\n');
    expect(readFileSync(join(folder.dir, 'parts.jsonl'), 'utf8')).toBe(
      '{"part":"teardown","value":["rule"]}\n',
    );
  });
});

describe('the record', () => {
  const book = () => {
    const { tell } = tellAll([]);
    const folder = openRunFolder(home, 'run', (text) => text.replaceAll('s3cret', '[redacted]'));
    return openRecordBook(run(), folder, startClock(words, plain, tell), tell);
  };

  test('takes a part once, of its shape, and is read back as it is stored', () => {
    const record = book();
    record.record({ teardown: ['rule with s3cret'] });
    expect(() => record.record({ teardown: [] })).toThrow('known already');
    expect(() => record.record({ baseline: 'green' as never })).toThrow('baseline');
    expect(record.soFar().teardown).toEqual(['rule with [redacted]']);
  });

  test('has what was not reached as empty, and a step that broke by its name', () => {
    const record = book();
    record.failed('observe', new Error('no answer'));
    expect(record.soFar()).toMatchObject({
      observation: null,
      effect: [],
      errors: [{ stage: 'observe', message: 'no answer' }],
    });
  });

  test('knows each file once, by its last content', () => {
    const record = book();
    record.attach('a.txt', 'one');
    const { sha256 } = record.attach('a.txt', 'two!');
    expect(record.soFar().attachments).toEqual([{ path: 'a.txt', bytes: 4, sha256 }]);
  });
});

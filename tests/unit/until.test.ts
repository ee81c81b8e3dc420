import { describe, expect, test } from 'vitest';
import { until } from '../../harness/base/until.ts';

/** Answers that are given one after the other, and how long was waited between them. */
function answering<T>(...answers: T[]) {
  const waits: number[] = [];
  let asked = 0;
  const ask = async (): Promise<T> => {
    const answer = answers[Math.min(asked, answers.length - 1)]!;
    asked += 1;
    return answer;
  };
  const pause = async (ms: number): Promise<void> => void waits.push(ms);
  return { ask, pause, waits, asked: () => asked };
}
const isThree = (answer: number): boolean => answer === 3;

describe('until', () => {
  test('asks until the answer is enough, and waits in between only', async () => {
    const { ask, pause, waits } = answering(1, 2, 3, 4);
    const result = await until(ask, isThree, { everyMs: 7, withinMs: 60_000, pause });
    expect([result.answer, result.met, waits]).toEqual([3, true, [7, 7]]);
  });

  test('without time it asks once, and gives what it got', async () => {
    const { ask, pause, asked } = answering(1);
    const result = await until(ask, isThree, { everyMs: 7, withinMs: 0, pause });
    expect([result.answer, result.met, asked()]).toEqual([1, false, 1]);
  });

  test('the answer that comes when the time is over counts', async () => {
    const slow = () => new Promise<number>((resolve) => setTimeout(resolve, 30, 3));
    const result = await until(slow, isThree, { everyMs: 1, withinMs: 1 });
    expect([result.answer, result.met]).toEqual([3, true]);
  });

  test('a signal ends the asking, and the waiting too', async () => {
    const over = new AbortController();
    const { ask, asked } = answering(1);
    const began = performance.now();
    setTimeout(() => over.abort(), 10);
    const { signal } = over;
    const result = await until(ask, isThree, { everyMs: 60_000, withinMs: 90_000, signal });
    expect([result.answer, result.met, asked()]).toEqual([1, false, 2]);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test('what the question throws is thrown', async () => {
    const broken = () => Promise.reject(new Error('nobody answers'));
    const patience = { everyMs: 1, withinMs: 1000 };
    await expect(until(broken, isThree, patience)).rejects.toThrow('nobody answers');
  });
});

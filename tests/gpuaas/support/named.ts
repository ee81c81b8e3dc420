// What the preflight names while a row is broken by hand, against what the seeds and the rules say.
import { setTimeout as sleep } from 'node:timers/promises';
import { argvFor, preflight } from './preflight.ts';
import type { World } from './world.ts';

export interface Place {
  readonly hop: string;
  readonly signal: string;
  readonly cause?: string;
  readonly scope?: string;
}

/** The best answer first; several where the situation itself may go either way. */
export type Right = readonly ('healthy' | Place)[];

export interface Answer extends Place {
  readonly confidence: string;
  readonly also: readonly string[];
  readonly because: readonly string[];
  /** What every hop said, and what it was seen by; told where the answer is wrong. */
  readonly hops: readonly string[];
}

/**
 * The first classified preflight, as a run takes it; a platform that stays green, or of which
 * nothing can be said, is told so at the end.
 */
export async function askPreflight(world: World, seconds: number): Promise<Answer> {
  const argv = argvFor(world.profile.stack, 'node-1');
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const report = await preflight(argv);
    const classified = report.result === 'failed';
    if (classified || performance.now() > until)
      return {
        hop: report.hop ?? report.result,
        signal: report.signal ?? '',
        cause: report.cause ?? '',
        confidence: report.confidence ?? '',
        also: report.also_failing.map(({ hop }) => hop),
        because: [...report.confidence_because, ...report.inconclusive_because],
        hops: report.hops.map(({ id, status, summary, evidence }) =>
          `${id}: ${status}: ${summary} ${status === 'fail' ? JSON.stringify(evidence) : ''}`.trim(),
        ),
        ...(report.scope !== null && { scope: report.scope }),
      };
    await sleep(300);
  }
}

export type Outcome = 'right' | 'right, unsure' | 'WRONG' | 'wrong, unsure';

/** Green where something is broken is as wrong as another hop. */
export function outcomeOf(answer: Answer, right: Right): Outcome {
  const fits = (one: 'healthy' | Place): boolean =>
    one === 'healthy'
      ? answer.hop === 'healthy'
      : answer.hop === one.hop &&
        answer.signal === one.signal &&
        (one.cause ?? answer.cause) === answer.cause &&
        (one.scope ?? answer.scope) === answer.scope &&
        answer.also.length === 0;
  const unsure = answer.confidence === 'low' || answer.hop === 'inconclusive';
  if (right.some(fits)) return unsure ? 'right, unsure' : 'right';
  return unsure ? 'wrong, unsure' : 'WRONG';
}

const words = (one: 'healthy' | Place): string =>
  one === 'healthy' ? one : [one.hop, one.signal, one.cause].filter(Boolean).join(' / ');

export interface Told {
  readonly row: string;
  readonly right: Right;
  readonly answer: Answer;
}

/** Row, what is right, what was named, and how sure. */
export function toldTable(told: readonly Told[]): string {
  const lines = told.flatMap(({ row, right, answer }) => [
    `${outcomeOf(answer, right).padEnd(14)} ${row}`,
    `               right ${right.map(words).join(' | ')}`,
    `               named ${words(answer)}${answer.also.length === 0 ? '' : ` also ${answer.also.join(', ')}`} ${answer.confidence} ${answer.because.join('; ')}`.trimEnd(),
    ...(outcomeOf(answer, right).startsWith('right')
      ? []
      : answer.hops.map((one) => `                     ${one}`)),
  ]);
  const outcomes = told.map(({ answer, right }) => outcomeOf(answer, right));
  const count = (one: Outcome): number => outcomes.filter((outcome) => outcome === one).length;
  return [
    ...lines,
    `${told.length} rows: ${count('right')} right and sure, ${count('right, unsure')} right and unsure, ${count('wrong, unsure')} wrong and unsure, ${count('WRONG')} WRONG AND SURE`,
  ].join('\n');
}

import type { Events, RunEvent } from '../records/events.ts';
import { type Reason, reasonWords } from '../records/verdict.ts';

/**
 * Live progress: one rewritten line on a terminal, plain lines into a pipe, JSON lines when asked
 * for. Shows, never decides.
 */
export function progress(json: boolean): { event: Events } {
  if (json) return { event: (event) => void process.stdout.write(`${JSON.stringify(event)}\n`) };
  return process.stdout.isTTY ? live() : { event: plain };
}

function plain(event: RunEvent): void {
  const text = line(event);
  if (text !== null) process.stdout.write(`${text}\n`);
}

export function line(event: RunEvent): string | null {
  switch (event.event) {
    case 'run':
      return `${event.scenario} on ${event.stack}`;
    case 'stage':
      if (event.status === 'start') return null;
      return `  ${seconds(event.elapsed_ms)} ${event.stage.padEnd(9)} ${event.status === 'failed' ? 'FAILED ' : ''}${seconds(event.duration_ms ?? 0)}  ${event.detail ?? ''}`.trimEnd();
    case 'note':
      return `          ${event.stage}: ${event.text}`;
    case 'verdict':
      return [
        `${event.verdict.toUpperCase()} ${event.scenario} ${seconds(event.duration_ms)}`,
        ...event.reasons.map(reasonLine),
      ].join('\n');
    case 'would_run':
      return event.scenario;
    case 'summary':
      return null;
  }
}

const reasonLine = (reason: Reason): string =>
  `  ${reason.at === undefined ? '' : `${reason.at}: `}${reasonWords(reason)}`;

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`.padStart(7);
}

/** The running stage of each scenario with elapsed time and budget, redrawn four times a second. */
function live(): { event: Events } {
  const running = new Map<string, { stage: string; since: number; budget: number | null }>();
  let drawn = false;
  const clear = (): void => {
    if (drawn) process.stdout.write('\r\x1b[2K');
    drawn = false;
  };
  const draw = (): void => {
    clear();
    const parts = [...running].map(([scenario, { stage, since, budget }]) => {
      const elapsed = (performance.now() - since) / 1000;
      return `${scenario}: ${stage} ${elapsed.toFixed(1)}${budget === null ? '' : `/${(budget / 1000).toFixed(0)}`} s`;
    });
    if (parts.length === 0) return;
    process.stdout.write(parts.join(' | ').slice(0, (process.stdout.columns ?? 80) - 1));
    drawn = true;
  };
  const timer = setInterval(draw, 250);
  timer.unref();
  return {
    event(event) {
      clear();
      const text = line(event);
      if (text !== null) process.stdout.write(`${text}\n`);
      if (event.event === 'stage' && event.status === 'start')
        running.set(event.scenario, {
          stage: event.stage,
          since: performance.now(),
          budget: event.budget_ms,
        });
      if (event.event === 'verdict') running.delete(event.scenario);
      draw();
    },
  };
}

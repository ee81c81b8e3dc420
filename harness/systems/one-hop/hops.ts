import { HttpError, request } from '../../drivers/http.ts';
import type { Finding, HopDeclaration } from '../../preflight/types.ts';

/** What every hop of this system asks; one answer serves both. */
export interface Asked {
  readonly url: string;
  answer(): Promise<{ readonly status: number; readonly body: string }>;
}

export const limitMs = 1000;

export function open(url: string): Asked {
  let answer: ReturnType<Asked['answer']> | undefined;
  return { url, answer: () => (answer ??= request({ url, timeoutMs: limitMs })) };
}

const failed = (signal: string, cause: string, blames: string, summary: string): Finding => ({
  status: 'fail',
  ...{ signal, cause, blames, summary },
});

async function askService({ answer }: Asked): Promise<Finding> {
  try {
    const { status } = await answer();
    return status === 200
      ? { status: 'pass', summary: 'the service answers 200' }
      : failed('service_unreachable', 'bad_status', 'part:box', `the service answers ${status}`);
  } catch (error) {
    const causes: Record<string, string> = { ECONNREFUSED: 'tcp_refused', ETIMEDOUT: 'timeout' };
    const cause = causes[error instanceof HttpError ? error.code : ''] ?? 'tcp_reset';
    return failed('service_unreachable', cause, 'link:service', (error as Error).message);
  }
}

async function askGreeting({ answer }: Asked): Promise<Finding> {
  const { body } = await answer();
  const text = body.trim();
  return text === 'hello'
    ? { status: 'pass', summary: 'it says hello' }
    : failed('greeting_wrong', 'other_text', 'part:box', `it says ${JSON.stringify(text)}`);
}

const common = { vantage: 'operator', explainedBy: [], skip: () => null } as const;

/** In the order in which they are told. */
export const hops: readonly HopDeclaration<Asked>[] = [
  {
    ...common,
    id: 'service',
    title: 'the service answers 200',
    section: 'service',
    after: [],
    signals: ['service_unreachable'],
    deadlineMs: () => limitMs + 500,
    run: askService,
  },
  {
    ...common,
    id: 'greeting',
    title: 'the service says hello',
    section: 'service',
    after: ['service'],
    signals: ['greeting_wrong'],
    deadlineMs: () => limitMs + 500,
    run: askGreeting,
  },
];

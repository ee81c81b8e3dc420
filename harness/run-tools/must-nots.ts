import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../base/message-of.ts';
import { type Reading, worstOf } from '../items/judge-item.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { Item } from '../records/item.ts';
import type { Check } from '../records/run-record.ts';
import type { Watched } from '../systems/hooks.ts';
import type { Tools } from './tools.ts';

/** The must-nots of the catalogue, watched from before the fault until after recovery. */
export interface Watch {
  /**
   * Asks what is a state, again and again, for as long as the work takes; what that costs is driver
   * time of the stage.
   */
  during<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Asks what belongs to this moment. Broken once is broken; after `end`, what nobody could ever
   * read says so.
   */
  check(phase: 'fault' | 'end'): Promise<Check[]>;
}

/** Often enough for a state that lasts as long as a fault, seldom enough not to be load. */
const periodMs = 2000;

interface Rule {
  readonly name: string;
  /** Left out when the system has no such rule. */
  readonly rule: Watched | undefined;
}

export async function watchMustNots(
  plan: Pick<Plan, 'run'>,
  tools: Pick<Tools, 'system' | 'context' | 'note' | 'views'>,
): Promise<Watch> {
  const rules: Rule[] = plan.run.invariants.flatMap((name) => {
    const rule = tools.system.invariants[name];
    return rule?.when === 'audit' ? [] : [{ name, rule }];
  });
  const polled = rules.filter(({ rule }) => rule?.when === 'always');
  const readings = new Map<string, Check & { held: number }>();
  const before = new Map<string, unknown>();
  const read = async ({ name, rule }: Rule): Promise<void> => {
    const found = await ask(tools, name, rule, before.get(name));
    readings.set(name, worse(readings.get(name), found));
  };
  await Promise.all(
    rules.map(async ({ name, rule }) => {
      try {
        before.set(name, await baselineOf(tools, rule));
      } catch (error) {
        tools.note(`${name}: ${messageOf(error)}`);
      }
    }),
  );
  const poll = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await Promise.all(polled.map(read));
      await pause(periodMs, undefined, { signal }).catch(() => {});
    }
  };
  return {
    async during(work) {
      const done = new AbortController();
      const polling = polled.length === 0 ? undefined : poll(done.signal);
      try {
        return await work();
      } finally {
        done.abort();
        await polling;
      }
    },
    async check(phase) {
      const due = rules.filter(
        ({ rule }) =>
          rule === undefined || rule.when === phase || ['always', 'twice'].includes(rule.when),
      );
      await Promise.all(due.map(read));
      const asked = (phase === 'end' ? rules : due).map(({ name }) => name);
      return asked.map((name) => reportedOf(name, readings.get(name)));
    },
  };
}

type Asking = Pick<Tools, 'context' | 'views'>;

async function baselineOf(tools: Asking, rule: Watched | undefined): Promise<unknown> {
  if (rule === undefined) return undefined;
  if ('observe' in rule) return Promise.all(rule.observe.map((item) => tools.views.read(item)));
  return rule.before?.(tools.context());
}

async function ask(
  tools: Asking,
  name: string,
  rule: Watched | undefined,
  before: unknown,
): Promise<Check> {
  if (rule === undefined) return { name, ok: null, detail: 'the system has no such invariant' };
  try {
    if ('observe' in rule) return { name, ...(await judgeAll(tools, rule.observe, before)) };
    const { held, detail } = await rule.check(tools.context(), before);
    return { name, ok: held, detail };
  } catch (error) {
    return { name, ok: null, detail: messageOf(error) };
  }
}

async function judgeAll(
  { views }: Asking,
  items: readonly Item[],
  before: unknown,
): Promise<Omit<Check, 'name'>> {
  const baseline = before as readonly Reading[] | undefined;
  const all = items.map((item, index) => views.judge(item, baseline?.[index] ?? null));
  const { holds, detail } = worstOf(await Promise.all(all));
  return { ok: holds, detail };
}

/** The first broken reading stays; else the last one that said something. */
function worse(
  earlier: (Check & { held: number }) | undefined,
  now: Check,
): Check & { held: number } {
  const held = (earlier?.held ?? 0) + (now.ok === true ? 1 : 0);
  if (earlier === undefined || now.ok === false || (earlier.ok !== false && now.ok === true)) {
    return earlier?.ok === false ? earlier : { ...now, held };
  }
  return { ...earlier, held };
}

function reportedOf(name: string, reading: (Check & { held: number }) | undefined): Check {
  if (reading === undefined) return { name, ok: null, detail: 'never read' };
  const { ok, detail, held } = reading;
  return {
    name,
    ok,
    detail: ok === true && held > 1 ? `${detail} (held in ${held} readings)` : detail,
  };
}

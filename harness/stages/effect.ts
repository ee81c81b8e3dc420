import type { Check } from '../records/run-record.ts';
import { declaredWait } from '../records/spans.ts';
import { messageOf, nameOf, type StageDeps } from './deps.ts';

/**
 * The second channel: is the fault there, and felt by what depends on it? Asked before the
 * preflight may judge, and again afterwards.
 */
export type IsActive = (index: number) => Promise<{ active: boolean; detail: string }>;

const pauseMs = 200;

export async function effect(
  deps: StageDeps,
  isActive: IsActive,
  budgetMs: number,
): Promise<Check[]> {
  const until = performance.now() + budgetMs;
  return Promise.all(deps.plan.faults.map((_, index) => one(deps, isActive, index, until)));
}

async function one(
  deps: StageDeps,
  isActive: IsActive,
  index: number,
  until: number,
): Promise<Check> {
  const name = nameOf(deps, index);
  for (;;) {
    let ok: boolean | null = null;
    let detail: string;
    try {
      const found = await isActive(index);
      if (found.active) return { name, ok: true, detail: found.detail };
      ok = false;
      detail = found.detail;
    } catch (error) {
      detail = messageOf(error);
    }
    if (performance.now() > until || deps.signal.aborted) return { name, ok, detail };
    await declaredWait('effect', pauseMs, deps.signal);
  }
}

/** Null when that could not be read: then nobody may say that the fault was there all the time. */
export async function stillActive(deps: StageDeps, isActive: IsActive): Promise<boolean | null> {
  try {
    const found = await Promise.all(deps.plan.faults.map((_, index) => isActive(index)));
    return found.every((one) => one.active);
  } catch (error) {
    deps.note(`effect after observing: ${messageOf(error)}`);
    return null;
  }
}

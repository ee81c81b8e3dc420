import { messageOf } from '../base/message-of.ts';

/**
 * What a run holds while it lasts: lock, faults, audit, watch. Each is put on the list before it is
 * opened, and closed once, in reverse order, whatever happened in between and on a deadline of its
 * own.
 */
export interface Handles {
  open<T>(handle: Handle<T>): Promise<T>;
  /** Gives what could not be shown to be closed. */
  close(): Promise<string[]>;
}

export interface Handle<T> {
  readonly name: string;
  readonly withinMs: number;
  open(): Promise<T>;
  /** What it could not prove, if that means anything for this handle. */
  close(opened: T): Promise<readonly string[] | undefined>;
}

export function openHandles(): Handles {
  const stack = new AsyncDisposableStack();
  const left: string[] = [];
  return {
    open<T>(handle: Handle<T>): Promise<T> {
      let opening: Promise<T> | undefined;
      stack.defer(async () => {
        left.push(...(await closed(handle, opening)));
      });
      opening = handle.open();
      return opening;
    },
    async close() {
      await stack.disposeAsync();
      return left;
    },
  };
}

async function closed<T>(
  handle: Handle<T>,
  opening: Promise<T> | undefined,
): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string[]>((resolve) => {
    const seconds = (handle.withinMs / 1000).toFixed(0);
    timer = setTimeout(
      () => resolve([`${handle.name}: not closed within ${seconds} s`]),
      handle.withinMs,
    );
  });
  const close = async (): Promise<readonly string[]> => {
    // What could not be opened has cleaned up after itself and told its step.
    const opened = await opening?.then(
      (value) => ({ value }),
      () => undefined,
    );
    if (opened === undefined) return [];
    return (await handle.close(opened.value)) ?? [];
  };
  try {
    return await Promise.race([close(), late]);
  } catch (error) {
    return [`${handle.name}: ${messageOf(error)}`];
  } finally {
    clearTimeout(timer);
  }
}

// A WebSocket that was refused before it was one.
import { expect } from 'vitest';
import { UpgradeRefused } from '../../../harness/drivers/websocket.ts';

/** Status and code; being let in is a failure of the test. */
export async function refusalOf(opening: Promise<unknown>): Promise<[number | null, string]> {
  const error: unknown = await opening.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof UpgradeRefused)) expect.fail(`not refused: ${String(error)}`);
  return [error.status, JSON.parse(error.body).error.code];
}

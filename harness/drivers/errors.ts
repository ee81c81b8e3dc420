/**
 * What every driver throws: one class, wrapped once at the edge, with a code that callers may
 * branch on. `lost` means that the call may or may not have happened; everything else means that it
 * did not, or that its outcome is known.
 */
export type DriverCode =
  | 'unreachable'
  | 'refused'
  | 'unknown_host_key'
  | 'changed_host_key'
  | 'auth'
  | 'timeout'
  | 'lost'
  | 'missing'
  | 'bad_request'
  | 'failed';

export class DriverError extends Error {
  readonly driver: string;
  readonly code: DriverCode;
  readonly status: number | undefined;

  constructor(
    driver: string,
    code: DriverCode,
    message: string,
    options: { cause?: unknown; status?: number } = {},
  ) {
    super(`${driver}: ${message}`, { cause: options.cause });
    this.name = 'DriverError';
    this.driver = driver;
    this.code = code;
    this.status = options.status;
  }
}

export const isDriverError = (error: unknown): error is DriverError => error instanceof DriverError;

/**
 * Settles with `work`, or rejects after `ms`; `onTimeout` may let go of what the work still holds.
 */
export async function withDeadline<T>(
  driver: string,
  what: string,
  ms: number,
  work: Promise<T>,
  onTimeout?: () => void,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onTimeout?.();
      reject(new DriverError(driver, 'timeout', `${what}: no answer within ${ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

// A reader that goes away (`| head -5`, a closed terminal) is no reason to leave a fault in.
const gone = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED']);

let lost: string | undefined;

/**
 * From here on nothing that is written can end the process; what could not be written is known
 * afterwards.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!gone.has(error.code ?? '')) lost ??= error.message;
    });
}

/**
 * Why the output is not whole, e.g. a full disk; undefined when it is, or when nobody wanted the
 * rest.
 */
export const lostOutput = (): string | undefined => lost;

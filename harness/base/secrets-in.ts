import { existsSync, readFileSync } from 'node:fs';

/** What files of credentials hold. */
export function secretsIn(files: readonly (string | undefined)[]): string[] {
  const texts = files.flatMap((file) =>
    file !== undefined && existsSync(file) ? [readFileSync(file, 'utf8').trim()] : [],
  );
  // A cookie file may hold `name=value`; the value alone is the secret.
  return texts.flatMap((text) =>
    /^[A-Za-z_]+=[^\s]+$/.test(text) ? [text, text.slice(text.indexOf('=') + 1)] : [text],
  );
}

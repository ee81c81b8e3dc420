// Reads a known_hosts file; pinned keys only, no trust on first use.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../base/message-of.ts';
import { DriverError } from './errors.ts';

export interface PinnedKey {
  readonly type: string;
  readonly key: string;
}

/** Keys that the file pins for a host; the port is part of the name unless it is 22. */
export function pinnedKeys(text: string, host: string, port: number): PinnedKey[] {
  const name = port === 22 ? host : `[${host}]:${port}`;
  return text.split('\n').flatMap((line) => {
    const [hosts, type, key] = line.trim().split(/\s+/);
    if (
      hosts === undefined ||
      type === undefined ||
      key === undefined ||
      hosts.startsWith('#') ||
      hosts.startsWith('@')
    )
      return [];
    return hosts.split(',').some((pattern) => matches(pattern, name)) ? [{ type, key }] : [];
  });
}

function matches(pattern: string, name: string): boolean {
  if (!pattern.startsWith('|1|')) return pattern === name;
  const [, , salt, hash] = pattern.split('|');
  return (
    createHmac('sha1', Buffer.from(salt ?? '', 'base64'))
      .update(name)
      .digest('base64') === hash
  );
}

export function readPinnedKeys(file: string, host: string, port: number): PinnedKey[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new DriverError(
      'ssh',
      'unknown_host_key',
      `cannot read the pinned host keys: ${messageOf(error)}`,
      { cause: error },
    );
  }
  const keys = pinnedKeys(text, host, port);
  if (keys.length === 0) {
    throw new DriverError(
      'ssh',
      'unknown_host_key',
      `no host key of ${host}:${port} is pinned in ${file}; add it after checking its fingerprint`,
    );
  }
  return keys;
}

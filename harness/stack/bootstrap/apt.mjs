// Debian's package tool: which mirror this machine uses, and packages fetched from a newer suite
// without adding that suite to the machine.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRoot, lastLines, run, which } from './machine.mjs';

const officialMirror = 'http://deb.debian.org/debian';

/**
 * The Debian archive named in apt's own configuration, in either of its two formats.
 * Only an address that ends in /debian counts: others (security, vendors) do not carry every suite.
 * @param {string[]} sourceTexts
 */
export function debianMirror(sourceTexts) {
  for (const text of sourceTexts) {
    for (const line of text.split('\n')) {
      const match = /^\s*(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*)(https?:\/\/\S+?)\/?(?:\s|$)/.exec(
        line,
      );
      if (match?.[1]?.endsWith('/debian')) return match[1];
    }
  }
  return officialMirror;
}

/** The security archive lies beside the main one on a full mirror. @param {string} mirror */
export const securityMirror = (mirror) => `${mirror}-security`;

export function readAptSources(folder = '/etc/apt') {
  const parts = join(folder, 'sources.list.d');
  const files = [
    join(folder, 'sources.list'),
    ...(existsSync(parts)
      ? readdirSync(parts)
          .sort()
          .map((name) => join(parts, name))
      : []),
  ];
  return files
    .filter((file) => /\.(list|sources)$/.test(file) && existsSync(file))
    .map((file) => readFileSync(file, 'utf8'));
}

/**
 * One source entry for another suite on the same mirror. @param {string} mirror @param {string}
 * suite
 */
export const sourceEntry = (mirror, suite) =>
  [
    'Types: deb',
    `URIs: ${mirror}`,
    `Suites: ${suite}`,
    'Components: main',
    'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg',
    '',
  ].join('\n');

/** True where the steps that need Debian's package tool may use it. */
export const canInstall = () =>
  process.platform === 'linux' &&
  isRoot() &&
  which('apt-get') !== null &&
  which('dpkg-deb') !== null;

let updated = false;

/**
 * Installs packages of the machine's own suite; the lists are refreshed once per run.
 * @param {string[]} names @param {string} logFile
 * @returns {Promise<string | null>} what went wrong, or null
 */
export async function aptInstall(names, logFile) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  if (!updated) {
    // A vendor's broken list must not stop us: what matters is whether the install then works.
    await run('apt-get', ['update', '-q'], { env, logFile });
    updated = true;
  }
  const result = await run(
    'apt-get',
    ['install', '-y', '-q', '--no-install-recommends', ...names],
    { env, logFile },
  );
  return result.code === 0 ? null : lastLines(result.stderr || result.stdout, 15);
}

/**
 * Fetches packages of another suite and unpacks them into a folder; nothing is installed.
 * @param {{ suite: string, names: string[], into: string, logFile: string }} wanted
 * @returns {Promise<string | null>} what went wrong, or null
 */
export async function aptUnpack({ suite, names, into, logFile }) {
  const work = mkdtempSync(join(tmpdir(), 'apt-'));
  try {
    for (const dir of ['parts', 'lists/partial', 'cache/archives/partial']) {
      mkdirSync(join(work, dir), { recursive: true });
    }
    writeFileSync(
      join(work, 'parts', 'suite.sources'),
      sourceEntry(debianMirror(readAptSources()), suite),
    );
    const options = [
      'Dir::Etc::SourceList=/dev/null',
      `Dir::Etc::SourceParts=${join(work, 'parts')}`,
      `Dir::State::Lists=${join(work, 'lists')}`,
      `Dir::Cache=${join(work, 'cache')}`,
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option]);
    for (const args of [
      ['update', '-q'],
      ['download', ...names],
    ]) {
      const result = await run('apt-get', [...options, ...args], { cwd: work, logFile });
      if (result.code !== 0) return lastLines(result.stderr, 15);
    }
    for (const file of readdirSync(work).filter((name) => name.endsWith('.deb'))) {
      const result = await run('dpkg-deb', ['-x', join(work, file), into], { logFile });
      if (result.code !== 0) return lastLines(result.stderr, 15);
    }
    return null;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

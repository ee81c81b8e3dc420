// `hopdrill doctor`: what is there, what is missing and how to get it. It looks and changes
// nothing.
import { purposes, steps } from './steps.mjs';

/** @typedef {import('./steps.mjs').Finding} Finding */
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {'found' | 'missing' | 'not-needed'} status
 * @property {string} [version]
 * @property {string} [where]
 * @property {string} [missing]
 * @property {string} [how] how to get it
 * @property {string} why why it is needed, or why it is not
 */

export const help = `Usage: hopdrill doctor [--json] [--for ${Object.keys(purposes).join('|')}]

Lists every prerequisite: found (version, where), missing (how to get it), not needed (why).
Works before any package is installed and with the Docker engine stopped; changes nothing.

Examples:
  hopdrill doctor                 what the whole harness needs
  hopdrill doctor --for check     what the checks of the sources need
  hopdrill doctor --json          one JSON document on stdout

Exit codes: 0 everything needed is there, 1 something is missing, 64 wrong usage.
`;

/** What people expect to need, and do not. @type {Row[]} */
const notNeeded = [
  {
    name: 'java',
    status: 'not-needed',
    why: 'the reports are made by Allure 3, which is plain JavaScript',
  },
  {
    name: 'kubernetes',
    status: 'not-needed',
    why: 'the platform under test runs in plain containers',
  },
  { name: 'chromium on the host', status: 'not-needed', why: 'an image of its own carries it' },
  {
    name: 'toxiproxy on the host',
    status: 'not-needed',
    why: 'its server is compiled into an image',
  },
];

/**
 * @param {import('./steps.mjs').Step} step @param {Finding} finding @param {string} purpose
 * @returns {Row}
 */
export function rowOf(step, finding, purpose) {
  if (finding.ok) {
    return {
      name: step.name,
      status: 'found',
      version: finding.version,
      where: finding.where,
      why: step.why,
    };
  }
  if (!purposes[purpose]?.includes(step.name)) {
    return { name: step.name, status: 'not-needed', why: `not needed for ${purpose}` };
  }
  return {
    name: step.name,
    status: 'missing',
    missing: finding.missing,
    how: finding.command ?? step.command,
    why: step.why,
  };
}

/** @param {Row[]} rows */
export function renderText(rows) {
  const width = Math.max(...rows.map((row) => row.name.length));
  /** @param {Row} row */
  const line = (row) => {
    const head = `${row.status.replace('-', ' ').padEnd(10)}  ${row.name.padEnd(width)}  `;
    if (row.status === 'found') return `${head}${row.version}, ${row.where}`;
    if (row.status === 'not-needed') return `${head}${row.why}`;
    const indent = `\n${' '.repeat(head.length)}`;
    return `${head}${row.missing}${indent}why: ${row.why}${indent}get: ${row.how}`;
  };
  const missing = rows.filter((row) => row.status === 'missing').length;
  const closing =
    missing === 0
      ? 'Everything needed is there.'
      : `${missing} missing. "hopdrill setup" brings about what it can; "get:" is the way by hand.`;
  return `${rows.map(line).join('\n')}\n\n${closing}\n`;
}

/** @param {string[]} args @returns {Promise<number>} the exit code */
export async function doctor(args) {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help);
    return 0;
  }
  const json = args.includes('--json');
  const [flag, value = 'test', ...rest] = args.filter((word) => word !== '--json');
  if (
    (flag !== undefined && (flag !== '--for' || !Object.hasOwn(purposes, value))) ||
    rest.length > 0
  ) {
    process.stderr.write(`doctor: do not understand: ${args.join(' ')}\n\n${help}`);
    return 64;
  }
  const findings = await Promise.all(
    steps.map(async (step) => rowOf(step, await step.check(), value)),
  );
  const rows = [...findings, ...notNeeded];
  const ok = rows.every((row) => row.status !== 'missing');
  process.stdout.write(
    json ? `${JSON.stringify({ ok, prerequisites: rows }, null, 2)}\n` : renderText(rows),
  );
  return ok ? 0 : 1;
}

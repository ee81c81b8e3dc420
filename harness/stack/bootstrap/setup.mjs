// `hopdrill setup --for <what>`: brings about whatever that command needs and this machine lacks.
// Without --for: everything. Looks at all steps at once, so that a ready machine is noticed within
// a second.
import { elapsed, SetupError, say } from './machine.mjs';
import { purposes, steps } from './steps.mjs';

const help = `Usage: hopdrill setup [--for ${Object.keys(purposes).join('|')}]

Installs, starts or builds what a command needs and this machine lacks, and says what it does.
Never restarts or reconfigures a Docker engine that answers.

Examples:
  hopdrill setup                 everything
  hopdrill setup --for check     packages and Node 24 only, no Docker

Exit codes: 0 all there, 69 something cannot be had (with the command that cures it), 64 wrong usage.
`;

/**
 * @param {string[]} args @returns {string | null} the purpose, or null when the words make no sense
 */
export function purposeOf(args) {
  if (args.length === 0) return 'test';
  const value =
    args[0] === '--for' && args.length === 2 ? args[1] : /^--for=(.+)$/.exec(args[0] ?? '')?.[1];
  return value !== undefined && Object.hasOwn(purposes, value) ? value : null;
}

/** @param {string[]} args @returns {Promise<number>} the exit code */
export async function setup(args) {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help);
    return 0;
  }
  const purpose = purposeOf(args);
  if (purpose === null) {
    process.stderr.write(`setup: do not understand: ${args.join(' ')}\n\n${help}`);
    return 64;
  }
  const startedAt = performance.now();
  const needed = steps.filter((step) => purposes[purpose]?.includes(step.name));
  const findings = await Promise.all(needed.map((step) => step.check()));
  if (findings.every((finding) => finding.ok)) {
    say(`all prerequisites present (${elapsed(startedAt)})`);
    return 0;
  }
  for (const step of needed) {
    // Asked again in order: an earlier cure may have brought this one along.
    const before = await step.check();
    if (before.ok) continue;
    /** @type {import('./steps.mjs').Finding} */
    let after = before;
    for (let round = 0; !after.ok && round < (step.rounds ?? 1); round += 1) {
      await step.cure();
      after = await step.check();
    }
    if (!after.ok)
      throw new SetupError({
        missing: after.missing,
        why: step.why,
        command: after.command ?? step.command,
      });
  }
  say(`set-up complete (${elapsed(startedAt)})`);
  return 0;
}

// Entry of the two commands that must work before anything is installed, under Node 20 too.
import { endChildrenOnSignal, isEnding, SetupError } from './machine.mjs';

const [command, ...args] = process.argv.slice(2);
endChildrenOnSignal();
try {
  process.exitCode =
    command === 'doctor'
      ? await (await import('./doctor.mjs')).doctor(args)
      : await (await import('./setup.mjs')).setup(args);
} catch (error) {
  if (!isEnding()) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

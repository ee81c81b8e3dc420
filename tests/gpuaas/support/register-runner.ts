// A process that is registered as a runner of a stack, does nothing, and ends when it is killed.
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { defaultStateDir } from '../../../harness/undo/paths.ts';
import { registerRunner } from '../../../harness/undo/runners.ts';

registerRunner(process.argv[2] ?? '', defaultStateDir(), await engineId());
setInterval(() => {}, 1000);
process.stdout.write('registered\n');

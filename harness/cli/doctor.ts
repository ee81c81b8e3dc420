// The launcher runs doctor without any package; this is the same one, for who comes through the
// command table.
export { help } from '../stack/bootstrap/doctor.mjs';

export const summary = 'say which prerequisites are there, missing or not needed';

export async function run(argv: readonly string[]): Promise<number> {
  const { doctor } = await import('../stack/bootstrap/doctor.mjs');
  return doctor([...argv]);
}

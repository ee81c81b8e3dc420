// What operators do to the platform.
export { repairs } from './repairs.ts';

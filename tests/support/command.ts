// The commands of hopdrill as a person runs them.
import { execa } from 'execa';

const hopdrill = new URL('../../hopdrill', import.meta.url).pathname;

export const command = (...words: string[]) =>
  execa(hopdrill, words, { reject: false, stdin: 'ignore', all: true });

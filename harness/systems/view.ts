import { z } from 'zod';
import type { Row } from '../records/item.ts';
import type { Formula, HookContext } from './hooks.ts';

/**
 * Something of the platform that can be read and compared. In a run, views are the only readers of
 * it: must-nots, proofs and evidence are built from them.
 */
export interface View {
  readonly title: string;
  /** What a reader says besides: which task, which role. */
  readonly params: z.ZodObject;
  /** One row. */
  readonly fields: z.ZodObject;
  /** Until what is expected of it must hold. */
  readonly within?: Formula;
  /** Who reads checks what comes against `fields`. */
  read(context: HookContext, params: Readonly<Record<string, unknown>>): Promise<readonly Row[]>;
}

interface Declared<P extends z.ZodObject, F extends z.ZodObject> {
  readonly title: string;
  readonly params?: P;
  readonly fields: F;
  readonly within?: Formula;
  /** One row, or several. */
  /** Who reads checks what comes against `fields`. */
  read(context: HookContext, params: z.infer<P>): Promise<z.input<F> | readonly z.input<F>[]>;
}

const noParams = z.strictObject({});

export function defineView<F extends z.ZodObject, P extends z.ZodObject = typeof noParams>({
  title,
  params = noParams as unknown as P,
  fields,
  within,
  read,
}: Declared<P, F>): View {
  return {
    ...{ title, params, fields },
    ...(within !== undefined && { within }),
    async read(context, given) {
      const found = await read(context, given as z.infer<P>);
      return (Array.isArray(found) ? found : [found]) as unknown as Row[];
    },
  };
}

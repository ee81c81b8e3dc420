import { nearest } from '../base/nearest.ts';
import { fieldsOf, type Item, type ItemBody, paramsOf } from '../records/item.ts';
import { coreViews } from './core-views.ts';
import type { See } from './hooks.ts';
import type { View } from './view.ts';

/** What is observed of a view that is not there, or that does not tell it. */
export function contradictionsOfViews({ views, proofs, invariants, evidence }: See): string[] {
  const observed = Object.entries({ ...proofs, ...invariants }).flatMap(([name, one]) =>
    'observe' in one ? one.observe.map((item) => [name, item] as const) : [],
  );
  const shown = Object.entries(evidence).flatMap(([name, source]) =>
    'view' in source ? [[name, source.view] as const] : [],
  );
  return [
    ...[...observed, ...shown].flatMap(([name, item]) =>
      wrongIn(item, views).map((wrong) => `${name} ${wrong}`),
    ),
    ...Object.entries(coreViews).flatMap(([name, { shape }]) =>
      missingIn(views[name], Object.keys(shape)).map(
        (field) => `the view ${name} lacks the field ${field}, which every system's has`,
      ),
    ),
  ];
}

const missingIn = (view: View | undefined, wanted: readonly string[]): string[] =>
  view === undefined ? [] : wanted.filter((field) => view.fields.shape[field] === undefined);

const wrongIn = (item: Item, views: See['views']): string[] =>
  Object.entries(item).flatMap(([name, body]) => {
    const view = views[name];
    return view === undefined
      ? [`asks the view ${name}, which is none${meant(name, Object.keys(views))}`]
      : wrongOf(name, view, body);
  });

function wrongOf(name: string, view: View, body: ItemBody): string[] {
  const fields = Object.keys(view.fields.shape);
  const params = view.params.safeParse(paramsOf(body));
  return [
    ...fieldsOf(body)
      .filter((field) => !fields.includes(field))
      .map((field) => `asks ${name} for ${field}, which it does not tell${meant(field, fields)}`),
    ...(params.error?.issues ?? []).map(
      ({ path, message }) => `asks ${name} wrongly: ${[...path, message].join(' ')}`,
    ),
  ];
}

function meant(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

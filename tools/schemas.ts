// Writes the JSON Schemas that are derived from records; `--check` fails when one on disk is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import {
  benchDocument,
  doctorDocument,
  listing,
  planDocument,
  preflightExplanation,
  pruneDocument,
  statusDocument,
  stopDocument,
  undoDocument,
} from '../harness/records/documents.ts';
import { runEvent } from '../harness/records/events.ts';
import { preflightReport } from '../harness/records/preflight.ts';
import { runRecord } from '../harness/records/run-record.ts';
import { scenarioFile } from '../harness/records/scenario.ts';
import type { SystemWords } from '../harness/scenarios/vocabulary.ts';
import { vocabulary } from '../harness/scenarios/words.ts';

const root = resolve(import.meta.dirname, '..');

interface Json {
  [key: string]: unknown;
}

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json =>
  z.toJSONSchema(schema, { io, target: 'draft-7', unrepresentable: 'any' }) as Json;

/**
 * The scenario schema names every fault with its own parameters, so that an editor completes them.
 */
function scenarioSchema(name: string, system: SystemWords): Json {
  const schema = schemaOf(scenarioFile, 'input');
  const faults: Json = {};
  for (const [fault, { params }] of Object.entries(system.faults)) {
    const { $schema: _, ...shape } = schemaOf(params, 'input');
    faults[fault] = shape;
  }
  const properties = schema.properties as Json;
  properties.faults = {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
      properties: faults,
    },
  };
  const expect = (properties.expect as { properties: Json }).properties;
  expect.hop = { enum: [...Object.keys(system.hops), 'none'] };
  expect.signal = { enum: Object.keys(system.signals) };
  const user = (expect.user as { properties: Json }).properties;
  user.state = { ...(user.state as Json), enum: [...(system.words.userStates ?? [])] };
  properties.system = { const: name };
  return schema;
}

export async function schemas(): Promise<Record<string, Json>> {
  const dir = 'harness/records/schemas';
  const { systems } = await vocabulary();
  const ofSystems = Object.entries(systems).map(([name, words]) => [
    `scenarios/${name}/scenario.schema.json`,
    scenarioSchema(name, words),
  ]);
  return {
    ...Object.fromEntries(ofSystems),
    [`${dir}/run-event.json`]: schemaOf(runEvent, 'output'),
    [`${dir}/verdict.json`]: schemaOf(runRecord, 'output'),
    [`${dir}/plan.json`]: schemaOf(planDocument, 'output'),
    [`${dir}/list.json`]: schemaOf(listing, 'output'),
    [`${dir}/preflight.json`]: schemaOf(preflightReport, 'output'),
    [`${dir}/preflight-explain.json`]: schemaOf(preflightExplanation, 'output'),
    [`${dir}/status.json`]: schemaOf(statusDocument, 'output'),
    [`${dir}/doctor.json`]: schemaOf(doctorDocument, 'output'),
    [`${dir}/prune.json`]: schemaOf(pruneDocument, 'output'),
    [`${dir}/stop.json`]: schemaOf(stopDocument, 'output'),
    [`${dir}/undo.json`]: schemaOf(undoDocument, 'output'),
    [`${dir}/bench.json`]: schemaOf(benchDocument, 'output'),
  };
}

export async function stale(): Promise<string[]> {
  return Object.entries(await schemas()).flatMap(([file, schema]) => {
    const path = join(root, file);
    return existsSync(path) && readFileSync(path, 'utf8') === textOf(schema) ? [] : [file];
  });
}

const textOf = (schema: Json): string => `${JSON.stringify(schema, null, 2)}\n`;

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const old = await stale();
    for (const file of old) process.stderr.write(`stale: ${file} (node tools/schemas.ts)\n`);
    process.exitCode = old.length === 0 ? 0 : 1;
  } else {
    for (const [file, schema] of Object.entries(await schemas())) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), textOf(schema));
    }
  }
}

import { z } from 'zod';
import { trajectorySchema } from '../trajectory/trajectory.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

const DTYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int64',
  number: 'float64',
  boolean: 'bool',
};

/**
 * The row schema as lines of YAML, in the form that Hugging Face's `dataset_info.features` has,
 * each line indented by `indent`. `extraToolNames` are the run's tools outside the fixed table,
 * which get columns where the schema lets tools have any name.
 */
export function datasetFeatures(indent: string, extraToolNames: readonly string[]): string[] {
  return fieldLines(z.toJSONSchema(trajectorySchema), indent, extraToolNames);
}

function fieldLines(schema: JsonSchema, indent: string, extra: readonly string[]): string[] {
  return Object.entries(fieldsOf(schema, extra)).flatMap(([name, field]) => [
    `${indent}- name: ${JSON.stringify(name)}`,
    ...typeLines(field, `${indent}  `, extra),
  ]);
}

function fieldsOf(schema: JsonSchema, extra: readonly string[]): Record<string, JsonSchema> {
  const fields = Object.entries(schema.properties ?? {});
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    fields.push(...extra.map((name): [string, JsonSchema] => [name, additionalProperties]));
  }
  return Object.fromEntries(fields.map(([name, field]) => [name, schemaOf(field)]));
}

function typeLines(schema: JsonSchema, indent: string, extra: readonly string[]): string[] {
  const dtype = dtypeOf(schema);
  if (dtype !== undefined) return [`${indent}dtype: ${dtype}`];
  const deeper = `${indent}  `;
  if (schema.type === 'object') return [`${indent}struct:`, ...fieldLines(schema, deeper, extra)];
  if (schema.type !== 'array') throw new TypeError(`no feature for ${JSON.stringify(schema)}`);
  const items = schemaOf(schema.items);
  const itemDtype = dtypeOf(items);
  if (itemDtype !== undefined) return [`${indent}list: ${itemDtype}`];
  return [`${indent}list:`, ...fieldLines(items, deeper, extra)];
}

/** The column type of a plain value; null is a value of every column. */
function dtypeOf(schema: JsonSchema): string | undefined {
  const choices = schema.anyOf
    ?.map((choice) => schemaOf(choice))
    .filter(({ type }) => type !== 'null');
  const plain = choices?.length === 1 && choices[0] !== undefined ? choices[0] : schema;
  return typeof plain.type === 'string' ? DTYPES[plain.type] : undefined;
}

function schemaOf(node: JsonSchema['items']): JsonSchema {
  if (typeof node !== 'object' || Array.isArray(node)) {
    throw new TypeError(`no feature for ${JSON.stringify(node)}`);
  }
  return node;
}

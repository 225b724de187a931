import { z } from 'zod';
import {
  metaOf,
  RUN_CONFIG_KEYS,
  type RunConfig,
  type RunConfigKey,
  runConfigSchema,
} from './run-config.ts';

/** What a setting takes, as JSON Schema says it. */
interface ValueShape {
  type?: string;
  enum?: string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  default?: unknown;
}

const shapes = z.toJSONSchema(runConfigSchema, { io: 'input' }).properties as Record<
  string,
  ValueShape
>;

/** The JSON Schema of a setting's value. */
export function valueShape(key: RunConfigKey): ValueShape {
  return shapes[key] ?? {};
}

/** Wrong settings: one line each, saying which, what was expected and what came. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Whether the setting is a limit that a run may go without: a number, none by default. */
function isLimit(key: string): boolean {
  if (!isKey(key)) return false;
  const { type = '', default: standard } = valueShape(key);
  const isNumber = type === 'integer' || type === 'number';
  return isNumber && standard === undefined && runConfigSchema.shape[key].isOptional();
}

/**
 * Turns the text of a command-line flag into the value that a config file would hold. `none` lifts
 * a limit: the value is null then.
 */
export function decodeFlag(key: RunConfigKey, given: string): unknown {
  switch (valueShape(key).type) {
    case 'integer':
    case 'number':
      if (given.toLowerCase() === 'none' && isLimit(key)) return null;
      return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(given) ? Number(given) : given;
    case 'boolean':
      return { true: true, false: false }[given.toLowerCase()] ?? given;
    case 'array':
      return given
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    case 'object':
      return parseJson(given) ?? given;
    default:
      return given;
  }
}

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return undefined;
  }
}

/** What a setting expects, in words. */
export function expected(key: RunConfigKey): string {
  const shape = valueShape(key);
  if (shape.enum !== undefined) return `one of ${shape.enum.join(', ')}`;
  if (key === 'run_name') return 'a letter or digit, then up to 62 of A-Z a-z 0-9 . _ -';
  if (shape.format === 'uri') return 'an http:// or https:// URL';
  const words: Record<string, string> = {
    integer: `a whole number${range(shape)}`,
    number: `a number${range(shape)}`,
    boolean: 'true or false',
    array: 'a comma list of names',
    object: 'a JSON object',
  };
  return words[shape.type ?? ''] ?? 'a text that is not empty';
}

function range(shape: ValueShape): string {
  const low =
    shape.exclusiveMinimum === undefined ? shape.minimum : `more than ${shape.exclusiveMinimum}`;
  const high = shape.maximum === Number.MAX_SAFE_INTEGER ? undefined : shape.maximum;
  if (low === undefined && high === undefined) return '';
  if (high === undefined) return typeof low === 'string' ? ` (${low})` : ` of at least ${low}`;
  return low === undefined ? ` up to ${high}` : ` (${low} to ${high})`;
}

/**
 * Checks a set of settings and fills in defaults; null lifts a limit. `source` says where a key came from in error
 * messages, e.g. `--batch_size` or `batch_size in run.json`. Throws `ConfigError`.
 */
export function parseRunConfig(
  given: Record<string, unknown>,
  source: (key: string) => string,
): RunConfig {
  const values = Object.fromEntries(
    Object.entries(given).filter(([key, value]) => value !== null || !isLimit(key)),
  );
  const parsed = runConfigSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const lines = new Map<string, string>();
  for (const issue of parsed.error.issues) {
    for (const key of issueKeys(issue)) {
      if (!lines.has(key)) lines.set(key, explain(key, values[key], source(key)));
    }
  }
  throw new ConfigError(
    lines.size === 1
      ? [...lines.values()].join()
      : [`${lines.size} settings are wrong:`, ...lines.values()].join('\n  '),
  );
}

function issueKeys(issue: z.core.$ZodIssue): string[] {
  return issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path[0])];
}

function explain(key: string, value: unknown, where: string): string {
  if (!isKey(key)) return `${where}: there is no such setting`;
  if (value === undefined) return `${where} is required: ${metaOf(key).help}`;
  return `${where}: expected ${expected(key)}, got ${show(key, value)}`;
}

function isKey(key: string): key is RunConfigKey {
  return (RUN_CONFIG_KEYS as string[]).includes(key);
}

function show(key: RunConfigKey, value: unknown): string {
  if (key === 'api_key') return 'something else';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

import type { z } from 'zod';

export type ParsedArguments<T> = { ok: true; args: T } | { ok: false; error: string };

/**
 * Reads a call's arguments. Lenient where models are known to slip and the meaning is plain:
 * numbers, booleans and lists in quotes, null for an argument left out, unknown arguments. The error
 * names every wrong argument with what was expected and what came.
 */
export function parseArguments<S extends z.ZodObject>(
  schema: S,
  jsonSchema: Record<string, unknown>,
  given: unknown,
): ParsedArguments<z.output<S>> {
  const plain = isRecord(given) ? withoutSlips(given, jsonSchema['properties']) : given;
  const parsed = schema.safeParse(plain);
  if (parsed.success) return { ok: true, args: parsed.data };
  const problems = parsed.error.issues.map((issue) => problemOf(issue, plain));
  return { ok: false, error: problems.join('; ') };
}

function withoutSlips(given: Record<string, unknown>, properties: unknown) {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === null) continue;
    const property = isRecord(properties) ? properties[name] : undefined;
    result[name] = unquoted(value, isRecord(property) ? property['type'] : undefined);
  }
  return result;
}

function unquoted(value: unknown, type: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === 'boolean' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return type === 'array' && value.trimStart().startsWith('[') ? parsedOr(value) : value;
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function problemOf(issue: z.core.$ZodIssue, given: unknown): string {
  const path = issue.path.map(String).join('.') || 'arguments';
  const got = shown(issue.path.reduce<unknown>(member, given));
  return `${path}: expected ${expectation(issue)}, got ${got}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' ? 'a whole number' : issue.expected;
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'too_big':
      return `at most ${issue.maximum}${unitOf(issue.origin)}`;
    case 'too_small':
      return `at least ${issue.minimum}${unitOf(issue.origin)}`;
    default:
      return issue.message;
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 80)}… (${text.length} characters)` : text;
}

function member(value: unknown, key: PropertyKey): unknown {
  return isRecord(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

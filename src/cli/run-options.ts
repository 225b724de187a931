import { type Command, Option } from 'commander';
import { decodeFlag, valueShape } from '../core/run/flag-values.ts';
import { metaOf, RUN_CONFIG_KEYS, type RunConfigKey } from '../core/run/run-config.ts';

/** Adds every setting of a run as a flag, with its help, from the one schema. */
export function addRunOptions(command: Command): void {
  for (const key of RUN_CONFIG_KEYS) command.addOption(optionOf(key));
}

function optionOf(key: RunConfigKey): Option {
  const { group, help, value } = metaOf(key);
  const shape = valueShape(key);
  const notes = [
    shape.enum === undefined ? '' : `one of ${shape.enum.join(', ')}`,
    isShown(shape.default) ? `default ${String(shape.default)}` : '',
  ].filter((note) => note !== '');
  const described = notes.length === 0 ? help : `${help} (${notes.join('; ')})`;
  const placeholder = value ?? (shape.enum === undefined ? 'value' : 'choice');
  const flags = shape.type === 'boolean' ? `--${key} [true|false]` : `--${key} <${placeholder}>`;
  return new Option(flags, described).helpGroup(`${group}:`);
}

function isShown(value: unknown): boolean {
  return value !== undefined && value !== false && !Array.isArray(value);
}

/** The settings given as flags, as the values that a config file would hold. */
export function givenSettings(options: Record<string, unknown>): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const key of RUN_CONFIG_KEYS) {
    const raw = options[key];
    if (raw === undefined) continue;
    given[key] = typeof raw === 'string' ? decodeFlag(key, raw) : raw;
  }
  return given;
}

/** Turns `--a-b` and `--a-b=v` into `--a_b` and `--a_b=v`; what follows `--` is left alone. */
export function normalizeFlags(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    if (!word.startsWith('--') || (end !== -1 && index >= end)) return word;
    const cut = word.indexOf('=');
    const name = cut === -1 ? word : word.slice(0, cut);
    return `--${name.slice(2).replaceAll('-', '_')}${word.slice(name.length)}`;
  });
}

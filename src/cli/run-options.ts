import { type Command, Option } from 'commander';
import { decodeFlag, valueShape } from '../core/run/flag-values.ts';
import { metaOf, RUN_CONFIG_KEYS, type RunConfigKey } from '../core/run/run-config.ts';

/** Adds every setting of a run as a flag, with its help but for those hidden, from the one schema. */
export function addRunOptions(
  command: Command,
  isHidden: (key: RunConfigKey) => boolean = () => false,
): void {
  for (const key of RUN_CONFIG_KEYS) command.addOption(optionOf(key).hideHelp(isHidden(key)));
}

function optionOf(key: RunConfigKey): Option {
  const { group, help, value } = metaOf(key);
  const shape = valueShape(key);
  const notes = [
    shape.enum === undefined ? '' : `one of ${shape.enum.join(', ')}`,
    isShown(shape.default) ? `default: ${String(shape.default)}` : '',
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

/**
 * Turns `--a-b` and `--a-b=v` into the `--a_b` and `--a_b=v` that the commands know. Other words,
 * the values of flags among them, are left alone.
 */
export function normalizeFlags(words: readonly string[], commands: readonly Command[]): string[] {
  const known = new Set(commands.flatMap((of) => of.options.map(({ long }) => long)));
  const end = words.indexOf('--');
  return words.map((word, index) => {
    if (!word.startsWith('--') || (end !== -1 && index >= end)) return word;
    const [name = word] = word.split('=', 1);
    const underscored = `--${name.slice(2).replaceAll('-', '_')}`;
    return known.has(underscored) ? underscored + word.slice(name.length) : word;
  });
}

/** Whether a flag is on, as far as can be said of a command line that may be wrong. */
export function asksFor(flag: 'json' | 'verbose', words: readonly string[]): boolean {
  return words.some((word) => new RegExp(`^--${flag}(=true)?$`, 'i').test(word));
}

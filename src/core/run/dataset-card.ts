import type { Trajectory } from '../trajectory/trajectory.ts';
import { datasetFeatures } from './dataset-features.ts';

export interface DatasetCardFacts {
  runName: string;
  model: string;
  /** Lines of `trajectories.jsonl`. */
  rows: number;
  /** Whether no model was asked. */
  rehearsal: boolean;
  /** The run's tools outside the fixed table (MCP), which its rows have columns for. */
  extraToolNames?: readonly string[];
}

const FIELDS: Readonly<Record<keyof Trajectory, string>> = {
  prompt_index: 'number of the prompt among the valid rows of its dataset, from 0',
  conversations:
    'the turns: `from` (human, gpt, tool), `value`, `reasoning`, `tool_calls`, `tool_call_id`, `name`',
  metadata: 'where the row comes from; `source` holds the other fields of its dataset row as JSON',
  completed: 'the model gave its answer',
  partial: 'a limit ended the conversation',
  outcome: 'how it ended, as one word or two',
  reason: 'more on the outcome, empty where there is no more to say',
  api_calls: 'model calls that gave a reply',
  toolsets_used: 'the groups of tools that were offered',
  tool_stats: 'calls by tool: `count`, `success`, `failure`',
  tool_error_counts: 'failed calls by tool',
  usage: 'tokens, and `cost_usd` (null where the price is not known)',
  timing: 'when the attempt ran, and seconds by where they went',
};

/**
 * `README.md` of a run's folder. Its YAML names the data file and the full features, so that
 * `load_dataset` on the folder reads any mix of rows in any order: left to guess from the first
 * ones, it takes a list that is always empty there for a list of nulls.
 */
export function datasetCard(facts: DatasetCardFacts): string {
  return `${[...frontMatter(facts), '', ...body(facts)].join('\n')}\n`;
}

function frontMatter({ runName, rehearsal, extraToolNames = [] }: DatasetCardFacts): string[] {
  return [
    '---',
    `pretty_name: ${JSON.stringify(runName)}`,
    'tags:',
    '- agent-trajectories',
    '- talaria',
    ...(rehearsal ? ['- rehearsal'] : []),
    'configs:',
    '- config_name: default',
    '  data_files:',
    '  - split: train',
    '    path: trajectories.jsonl',
    'dataset_info:',
    '  config_name: default',
    '  features:',
    ...datasetFeatures('  ', extraToolNames),
    '---',
  ];
}

function body({ runName, model, rows, rehearsal }: DatasetCardFacts): string[] {
  const count = rows === 1 ? '1 agent trajectory' : `${rows} agent trajectories`;
  return [
    `# ${runName}`,
    '',
    ...(rehearsal
      ? ['> **This is a rehearsal**: no model was asked, a script played its part.', '']
      : []),
    `${count}, made by Talaria with the model ${codeSpan(model)}. One line of`,
    '`trajectories.jsonl` is one prompt, run as a whole conversation with tools.',
    '',
    '```python',
    'from datasets import load_dataset',
    '',
    `rows = load_dataset("data/${runName}", split="train")  # or wherever this folder is`,
    '```',
    '',
    '| field | what it holds |',
    '|---|---|',
    ...Object.entries(FIELDS).map(([field, meaning]) => `| \`${field}\` | ${meaning} |`),
    '',
    'Conversations that are not fit for training are in `discarded.jsonl` and `failed.jsonl`, in',
    'the same form; `statistics.json` has the figures of the whole run.',
  ];
}

/** A name from outside as code on one line. */
function codeSpan(text: string): string {
  return `\`${text.replaceAll(/[`\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')}\``;
}

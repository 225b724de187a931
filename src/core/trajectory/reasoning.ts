import { z } from 'zod';

/** The fields of a reply in which providers put a model's thinking and text. All untrusted. */
export interface RawReply {
  content?: unknown;
  reasoning?: unknown;
  reasoning_content?: unknown;
  reasoning_details?: unknown;
}

export interface SeparatedReply {
  /** The text without the thinking. */
  content: string;
  /** The thinking, "" where there is none. */
  reasoning: string;
  /** The text as it came, where thinking was cut out of it. */
  taggedContent?: string;
}

const partSchema = z.looseObject({
  type: z.string().catch(''),
  text: z.string().catch(''),
  summary: z.unknown().optional(),
  thinking: z.unknown().optional(),
});

/**
 * Finds the thinking of a reply wherever its provider put it: in a field, in parts of the content,
 * as `<think>…</think>` before the text, or as `<REASONING_SCRATCHPAD>…</REASONING_SCRATCHPAD>`
 * anywhere in it. A block left open runs to the end. Never throws.
 */
export function separateReasoning(reply: RawReply): SeparatedReply {
  const field = fieldReasoning(reply);
  const parts = contentParts(reply.content);
  const tagged = cutTags(parts.text, field === '' && parts.thinking === '');
  const reasoning = joinDistinct([field, parts.thinking, ...tagged.blocks]);
  return tagged.blocks.length === 0
    ? { content: parts.text, reasoning }
    : { content: tagged.text, reasoning, taggedContent: parts.text };
}

/** The thinking in a reply's fields; the first that says something, since they repeat each other. */
function fieldReasoning(reply: RawReply): string {
  for (const value of [reply.reasoning, reply.reasoning_content]) {
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  if (!Array.isArray(reply.reasoning_details)) return '';
  return joinDistinct(reply.reasoning_details.map(detailText));
}

function detailText(detail: unknown): string {
  const part = partSchema.safeParse(detail);
  if (!part.success) return '';
  return part.data.text || (typeof part.data.summary === 'string' ? part.data.summary : '');
}

function contentParts(content: unknown): { text: string; thinking: string } {
  if (typeof content === 'string') return { text: content, thinking: '' };
  if (!Array.isArray(content)) return { text: '', thinking: '' };
  let text = '';
  let thinking = '';
  for (const value of content) {
    const part = partSchema.safeParse(value);
    if (!part.success) continue;
    if (isThinking(part.data.type)) thinking += part.data.text || thinkingText(part.data.thinking);
    else text += part.data.text;
  }
  return { text, thinking: thinking.trim() };
}

function isThinking(type: string): boolean {
  return type === 'thinking' || type === 'reasoning' || type.startsWith('reasoning.');
}

function thinkingText(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  return Array.isArray(thinking) ? thinking.map(detailText).join('') : '';
}

const OPEN_THINK = /^\s*<think(?:ing)?>/;
const CLOSE_THINK = /<\/think(?:ing)?>/;
const SCRATCHPAD = /<REASONING_SCRATCHPAD>([\s\S]*?)(?:<\/REASONING_SCRATCHPAD>|$)/g;

function cutTags(text: string, allowBareClose: boolean): { text: string; blocks: string[] } {
  const blocks: string[] = [];
  let rest = cutLeadingThink(text, blocks);
  if (blocks.length === 0 && allowBareClose) rest = cutBareClose(text, blocks);
  if (!rest.includes('<REASONING_SCRATCHPAD>')) return { text: rest, blocks };
  rest = rest.replaceAll(SCRATCHPAD, (_, block: string) => {
    blocks.push(block);
    return '';
  });
  return { text: rest.trim(), blocks };
}

function cutLeadingThink(text: string, blocks: string[]): string {
  let rest = text;
  for (let open = OPEN_THINK.exec(rest); open !== null; open = OPEN_THINK.exec(rest)) {
    const inside = rest.slice(open[0].length);
    const close = CLOSE_THINK.exec(inside);
    blocks.push(close === null ? inside : inside.slice(0, close.index));
    rest = close === null ? '' : inside.slice(close.index + close[0].length).trimStart();
  }
  return rest;
}

/** A close whose opening tag stood in the prompt's template, as local servers leave it. */
function cutBareClose(text: string, blocks: string[]): string {
  const close = CLOSE_THINK.exec(text);
  if (close === null) return text;
  const before = text.slice(0, close.index);
  const after = text.slice(close.index + close[0].length);
  // Text that only speaks of the tag has it inside a line, or both tags.
  if (before.includes('<think') || !/^[ \t]*(?:\r?\n|$)/.test(after)) return text;
  blocks.push(before);
  return after.trimStart();
}

function joinDistinct(texts: readonly string[]): string {
  const said = texts.map((text) => text.trim()).filter((text) => text !== '');
  return [...new Set(said)].join('\n\n');
}

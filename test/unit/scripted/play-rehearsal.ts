import { createRehearsalModel } from '../../../src/adapters/scripted/rehearsal-model.ts';
import type { ModelMessage, ModelReply } from '../../../src/core/ports/model.ts';

export const KNOWN = ['terminal', 'write_file', 'read_file', 'patch', 'search_files'];
export const OFFERED = [...KNOWN, 'process', 'web_search', 'browser_navigate'];

export const clock = { sleep: () => Promise.reject(new Error('no delay was asked for')) };
export const model = createRehearsalModel({ clock });

export interface Story {
  messages: ModelMessage[];
  replies: ModelReply[];
}

export type RunTool = (name: string, args: Record<string, unknown>) => string;

export function complete(
  promptId: string,
  messages: readonly ModelMessage[],
  names: readonly string[],
) {
  const tools = names.map((name) => ({ name, description: '', parameters: {} }));
  return model.complete({ promptId, messages, tools, signal: new AbortController().signal });
}

export async function play(
  prompt: string,
  names: readonly string[],
  promptId = 'p',
  runTool: RunTool = () => '{"output":""}',
): Promise<Story> {
  const messages: ModelMessage[] = [{ role: 'user', content: prompt }];
  const replies: ModelReply[] = [];
  for (;;) {
    const reply = await complete(promptId, messages, names);
    replies.push(reply);
    messages.push(reply.message);
    if (reply.message.toolCalls.length === 0 || replies.length > 9) return { messages, replies };
    for (const call of reply.message.toolCalls) {
      const content = runTool(call.name, JSON.parse(call.arguments));
      messages.push({ role: 'tool', toolCallId: call.id, name: call.name, content });
    }
  }
}

export function calledNames({ replies }: Story): string[] {
  return replies.flatMap(({ message }) => message.toolCalls.map(({ name }) => name));
}

/** A prompt id of each story length. */
export async function idsByTurns(): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  for (let index = 0; index < 100; index += 1) {
    const { replies } = await play('go', KNOWN, `id-${index}`);
    if (!ids.has(replies.length)) ids.set(replies.length, `id-${index}`);
  }
  return ids;
}

/** Prompts that break what is built from them without care. */
export const WEIRD = [
  '',
  ' \n ',
  '\0\0',
  '\ud800 lone \udc00',
  `it's "quoted" \`date\` $(id) $HOME \\ % %s`,
  'Status: "draft"\nStatus: "draft"',
  `${'a'.repeat(159)}😀`,
  `${'a'.repeat(999)}😀`,
  '\u2028two\u2029lines\r\n',
  '\u001b[31mred',
];

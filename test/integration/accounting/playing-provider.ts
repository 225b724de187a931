import {
  type ModelServer,
  type RecordedRequest,
  startModelServer,
} from '../../support/model-server.ts';
import {
  completion,
  refusal,
  type ScriptedReply,
  text,
} from '../../support/model-server-replies.ts';

export interface Provider extends ModelServer {
  /** Texts of the prompts asked about so far, in order. */
  asked(): string[];
  /** The flags that lead a run to this provider. */
  flags: { model: string; base_url: string };
}

/** What the provider answers to a prompt: the n-th time, from 1, that it is asked about it. */
export type Play = (prompt: string, nth: number) => ScriptedReply | Promise<ScriptedReply>;

/** A provider whose answers a test plays, prompt by prompt. */
export async function startProvider(play: Play): Promise<Provider> {
  const counts = new Map<string, number>();
  const server = await startModelServer({
    reply(request) {
      const prompt = promptOf(request);
      const nth = (counts.get(prompt) ?? 0) + 1;
      counts.set(prompt, nth);
      return play(prompt, nth);
    },
  });
  return {
    ...server,
    asked: () => server.requests.map(promptOf),
    flags: { model: 'test/model', base_url: server.baseUrl },
  };
}

function promptOf({ body }: RecordedRequest): string {
  return body.messages.findLast((message) => message.role === 'user')?.content ?? '';
}

/** A good answer with some thinking. */
export const ANSWER = text('Done.');

/** An answer without any thinking: the row is discarded. */
export const THOUGHTLESS = completion({ content: 'Done.' });

/** An attempt that meets this has failed: the adapter tries no 400 again, the batch does. */
export const BROKEN = refusal(400, 'this model is out of order');

/** A gate that holds replies back until it is opened. */
export function makeGate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

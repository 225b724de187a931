import { type ModelServer, startModelServer } from './model-server.ts';
import { text, toolCall } from './model-server-replies.ts';

/** What a model is asked by one of several runs: each has its own base URL. */
interface DrillCall {
  run: string;
  prompt: string;
  /** 0 for the prompt's first call. */
  turn: number;
}

export interface DrillModel {
  baseUrl(run: string): string;
  /** Holds back the next answer to such a call; `held` resolves when it is asked for. */
  hold(call: DrillCall): { held: Promise<void>; release(): void };
  /** How often each call of a run was made: `<prompt> <turn>`. */
  calls(run: string): Record<string, number>;
  close(): Promise<void>;
}

/** A model that makes one tool call for each prompt, then answers; the same for every run. */
export async function startDrillModel(): Promise<DrillModel> {
  const gates: { call: DrillCall; arrive(): void; released: Promise<void> }[] = [];
  const seen: DrillCall[] = [];
  const server: ModelServer = await startModelServer({
    async reply({ path, body }) {
      const call = {
        run: path.split('/')[1] ?? '',
        prompt: body.messages.find(({ role }) => role === 'user')?.content ?? '',
        turn: body.messages.filter(({ role }) => role === 'assistant').length,
      };
      seen.push(call);
      const at = gates.findIndex((gate) => isSame(gate.call, call));
      const [gate] = at < 0 ? [] : gates.splice(at, 1);
      gate?.arrive();
      await gate?.released;
      return call.turn === 0
        ? toolCall('terminal', { command: `echo ${call.prompt.length}` })
        : text(`It has ${call.prompt.length} letters.`);
    },
  });
  const { origin } = new URL(server.baseUrl);
  return {
    baseUrl: (run) => `${origin}/${run}/v1`,
    hold(call) {
      const [held, released] = [openPromise(), openPromise()];
      gates.push({ call, arrive: held.resolve, released: released.promise });
      return { held: held.promise, release: released.resolve };
    },
    calls(run) {
      const counts: Record<string, number> = {};
      for (const call of seen.filter((of) => of.run === run)) {
        const key = `${call.prompt} ${call.turn}`;
        counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    },
    close: () => server.close(),
  };
}

function isSame(a: DrillCall, b: DrillCall): boolean {
  return a.run === b.run && a.prompt === b.prompt && a.turn === b.turn;
}

function openPromise() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

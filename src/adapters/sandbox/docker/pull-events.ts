import { z } from 'zod';

/** Longest line of a daemon, in characters; its own are some hundred. */
const LONGEST_LINE = 1_000_000;
/** More layers than any image has. */
const MOST_LAYERS = 10_000;

const bytes = z.number().min(0).catch(0).optional();
const eventSchema = z.object({
  id: z.string().max(1000).optional(),
  status: z.string().max(10_000).optional(),
  progressDetail: z.object({ current: bytes, total: bytes }).nullish(),
  error: z.string().optional(),
  errorDetail: z.object({ message: z.string().optional() }).nullish(),
});
export type PullEvent = z.infer<typeof eventSchema>;

/** What a daemon tells of a pull, one JSON object a line. Throws for anything else. */
export async function* readPullEvents(
  stream: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<PullEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new Error('Docker sent a line without end');
    for (const line of lines) if (line.trim() !== '') yield parse(line);
  }
  if (rest.trim() !== '') yield parse(rest);
}

function parse(line: string): PullEvent {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch (error) {
    throw new Error('Docker told of the pull in a form that is not known', { cause: error });
  }
}

/** Over all layers that have begun: sizes of the others are not known yet. */
export interface PullProgress {
  phase: 'downloading' | 'extracting';
  doneBytes: number;
  totalBytes: number;
}

interface Layer {
  said: string;
  downloaded: number;
  extracted: number;
  total: number;
}

export interface PullSum {
  /** Whether anything moved by it. */
  add(event: PullEvent): boolean;
  progress(): PullProgress;
}

/** Adds up what a pull's layers tell one by one. */
export function createPullSum(): PullSum {
  const layers = new Map<string, Layer>();

  function layerOf(id: string): Layer {
    const known = layers.get(id);
    if (known !== undefined) return known;
    const layer = { said: '', downloaded: 0, extracted: 0, total: 0 };
    if (layers.size < MOST_LAYERS) layers.set(id, layer);
    return layer;
  }

  return {
    add({ id = '', status = '', progressDetail }) {
      const { current = 0, total = 0 } = progressDetail ?? {};
      const layer = layerOf(id);
      const said = `${status} ${current}`;
      const isMove = said !== layer.said && !status.startsWith('Retrying');
      layer.said = said;
      advance(layer, status, current, Math.max(current, total));
      return isMove;
    },
    progress() {
      const sum = { downloaded: 0, extracted: 0, total: 0 };
      for (const layer of layers.values()) {
        sum.downloaded += layer.downloaded;
        sum.extracted += layer.extracted;
        sum.total += layer.total;
      }
      const phase = sum.downloaded < sum.total || sum.total === 0 ? 'downloading' : 'extracting';
      const doneBytes = phase === 'downloading' ? sum.downloaded : sum.extracted;
      return { phase, doneBytes, totalBytes: sum.total };
    },
  };
}

function advance(layer: Layer, status: string, current: number, total: number): void {
  switch (status) {
    case 'Downloading':
      layer.total = Math.max(layer.total, total);
      layer.downloaded = current;
      break;
    case 'Verifying Checksum':
    case 'Download complete':
      layer.downloaded = layer.total;
      break;
    case 'Extracting':
      layer.total = Math.max(layer.total, total);
      layer.downloaded = layer.total;
      layer.extracted = current;
      break;
    case 'Pull complete':
      layer.downloaded = layer.total;
      layer.extracted = layer.total;
      break;
  }
}

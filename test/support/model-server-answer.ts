import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedReply } from './model-server-replies.ts';

/** Carries out `reply` on `outgoing`. */
export async function answer(outgoing: ServerResponse, reply: ScriptedReply): Promise<void> {
  if (reply.delayMs !== undefined) await sleep(reply.delayMs);
  // The client may have gone away meanwhile.
  if (outgoing.destroyed || reply.fault === 'hang') return;
  if (reply.fault === 'reset') {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  const bytes = bodyBytes(reply.body);
  outgoing.writeHead(reply.status ?? 200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...reply.headers,
  });
  if (reply.fault === undefined) {
    outgoing.end(bytes);
    return;
  }
  outgoing.write(bytes.subarray(0, bytes.length / 2));
  if (reply.fault === 'cut') setImmediate(() => outgoing.destroy());
}

function bodyBytes(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

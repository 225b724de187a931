import type { BatchMessage } from './batch-record.ts';

/** Limits of one call: the sum counts, not only each message. */
const MAX_MESSAGES = 10;
const MAX_BYTES = 256 * 1024;

/** A message's text in ASCII: the queue refuses some characters that a reference may have. */
export function messageText(message: BatchMessage): string {
  return JSON.stringify(message).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Messages in their order, in groups that one call takes. */
export function messageGroups<T extends { text: string }>(messages: readonly T[]): T[][] {
  const groups: T[][] = [];
  let group: T[] = [];
  let bytes = 0;
  for (const message of messages) {
    const { length } = message.text;
    if (group.length === MAX_MESSAGES || bytes + length > MAX_BYTES) {
      groups.push(group);
      group = [];
      bytes = 0;
    }
    group.push(message);
    bytes += length;
  }
  groups.push(group);
  return groups.filter(({ length }) => length > 0);
}

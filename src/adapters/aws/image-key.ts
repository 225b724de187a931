import { createHash } from 'node:crypto';
import { type ItemKey, imageKey } from './table-keys.ts';

/** Of the item that has what a run knows of an image. */
export function imageKeyOf(run: string, reference: string): ItemKey {
  return imageKey(run, createHash('sha256').update(reference).digest('hex'));
}

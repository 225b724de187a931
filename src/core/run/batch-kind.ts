import { isKept, type Outcome, outcomeClass } from '../trajectory/outcome.ts';

/** The kinds of a batch's final files: `batch_N`, `discarded_N`, `failed_N`. */
export const BATCH_KINDS = ['batch', 'discarded', 'failed'] as const;
export type BatchKind = (typeof BATCH_KINDS)[number];

/** The kind of file in which a row of this outcome ends. */
export function batchKind(outcome: Outcome): BatchKind {
  if (isKept(outcome)) return 'batch';
  return outcomeClass(outcome) === 'discarded' ? 'discarded' : 'failed';
}

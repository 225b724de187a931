import { createTimeSlice, type TimeSlice } from './time-slice.ts';

/** Characters of matching and context lines kept over a whole search. */
const MAX_TEXT = 8_000_000;

/** What a search may still spend; shared by all its files. */
export interface SearchBudget {
  slice: TimeSlice;
  /** Counts one match; false where there may be no more. */
  takeMatch(): boolean;
  /** Counts a kept line's characters; false where there may be no more. */
  takeText(length: number): boolean;
}

export function createSearchBudget(of: { maxMatches: number; timeoutMs: number }): SearchBudget {
  let matches = of.maxMatches;
  let text = MAX_TEXT;
  return {
    slice: createTimeSlice(of.timeoutMs),
    takeMatch: () => --matches >= 0,
    takeText(length) {
      text -= length;
      return text >= 0;
    },
  };
}

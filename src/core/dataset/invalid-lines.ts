import { DatasetError } from './dataset-error.ts';

export interface InvalidLine {
  /** 1-based. */
  line: number;
  reason: string;
}

const LISTED = 20;

/** Counts a dataset's bad lines and keeps the first 20. */
export function createInvalidLines() {
  const listed: InvalidLine[] = [];
  let count = 0;
  return {
    listed: listed as readonly InvalidLine[],
    count: () => count,
    add(line: number, reason: string): void {
      count += 1;
      if (listed.length < LISTED) listed.push({ line, reason });
    },
    /** The fault of a dataset that has no other lines. */
    noRows(file: string): DatasetError {
      const [first] = listed;
      if (first === undefined)
        return new DatasetError(file, 0, 'expected rows of JSON, got no line');
      const problem = `${first.reason}; expected at least one valid row, got ${count} bad lines`;
      return new DatasetError(file, first.line, problem);
    },
  };
}

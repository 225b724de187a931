/** Objects of the bucket that the merge of one batch reads and writes. */
export interface BatchObjects {
  /** Rejects with an error that names the key where there is no such object. */
  text(key: string): Promise<string>;
  /** The text of `length` bytes at `offset`; rejects where the object is missing or shorter. */
  textAt(key: string, offset: number, length: number): Promise<string>;
  /** Puts an object of so many lines, unless there is one already: that holds the same. */
  putOnce(key: string, text: string, lines: number): Promise<void>;
}

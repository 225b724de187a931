import type { Upload } from '../cloud/run-record.ts';

/** A small object as it was read. */
export interface StoredText {
  text: string;
  versionId: string;
  /** Tells it from any other content. */
  etag: string;
}

/** An object that is written piece by piece. */
export interface InputWriter {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the object, unless it is there already. */
  close(): Promise<void>;
  /** Leaves nothing of what was written. Never throws. */
  abort(): Promise<void>;
}

/** What a planner reads and writes of the bucket, by key. */
export interface PassFiles {
  /** The version that is there now; undefined where there is none. */
  versionOf(key: string): Promise<string | undefined>;
  /** The uploaded bytes of that version, as they are. Throws `DatasetError` where it is gone. */
  dataset(upload: Upload): AsyncIterable<Uint8Array>;
  /** The bytes of an object that is never overwritten. */
  input(key: string): AsyncIterable<Uint8Array>;
  openInput(key: string): InputWriter;
  /** Undefined where it, or that version of it, is not there. */
  text(key: string, versionId?: string): Promise<StoredText | undefined>;
  put(key: string, text: string): Promise<void>;
  /** Puts only where it is still as it was read; false otherwise. */
  replace(key: string, text: string, read: StoredText | undefined): Promise<boolean>;
  /** Of that version nothing stays; without one, the object is hidden. */
  remove(key: string, versionId?: string): Promise<void>;
}

import type { ImageRecord } from '../cloud/attempt-record.ts';
import type { CloudRunState, RunRecord } from '../cloud/run-record.ts';

/** Runs and their images, as the dispatcher sees and moves them. */
export interface DispatchedRuns {
  /** Runs in these states, the oldest first; may lag behind by a moment. */
  inStates(states: readonly CloudRunState[]): Promise<RunRecord[]>;
  read(run: string): Promise<RunRecord | undefined>;
  /** Only from `from`; false where it is in another state. `reason` stays where it is undefined. */
  move(
    run: string,
    move: { from: CloudRunState; to: CloudRunState; reason?: string; now: number },
  ): Promise<boolean>;
  /** Nothing stored of this pass and those before it is left to delete. */
  samplesDeleted(run: string, pass: number): Promise<void>;
  /** One more stop in a row before any claim. */
  countStop(run: string): Promise<void>;
  image(run: string, reference: string): Promise<ImageRecord | undefined>;
  /**
   * Puts the facts of an image, the first or those in place of `before`; resolves to those that hold.
   */
  keepImage(run: string, image: ImageRecord, before?: ImageRecord): Promise<ImageRecord>;
  /** The image can't be had for good, as of a pass; the first words stay. */
  giveUpImage(run: string, reference: string, of: { problem: string; pass: number }): Promise<void>;
}

import type { FleetRecord } from '../cloud/launch-record.ts';

/** One dispatcher at a time. Times are milliseconds since 1970. */
export interface DispatcherLease {
  /** What the fleet's item says; a defaulted one where there is none yet. */
  read(): Promise<FleetRecord>;
  /**
   * Takes the lease. False where another holds it, who then looks once more before it ends.
   */
  acquire(owner: string, now: number, until: number): Promise<boolean>;
  /** False where the lease is another's by now: this one may do nothing more. */
  renew(owner: string, until: number): Promise<boolean>;
  /**
   * Gives the lease back. False where somebody asked to look once more: the lease is kept then, and
   * the wish is taken as heard.
   */
  release(owner: string): Promise<boolean>;
  /** Gives the lease back whatever anybody asked for. */
  abandon(owner: string): Promise<void>;
  /** Notes when a sweep began. */
  swept(what: 'runs' | 'definitions' | 'samples', now: number): Promise<void>;
}

import type { Architecture } from '../cloud/task-definition.ts';

export interface ResolvedImage {
  /** `name@sha256:…`; of the one platform, where there are many. */
  pinned: string;
  architecture: Architecture;
  /** Of its layers as they are pulled. */
  sizeBytes: number;
}

/** The image can't be had, now or later: the words say why. */
export class ImageGoneError extends Error {
  override readonly name = 'ImageGoneError';
}

/** The registry gave no answer to go by; it may later. */
export class RegistryBusyError extends Error {
  override readonly name = 'RegistryBusyError';
}

export interface ImageRegistry {
  /**
   * Asks the image's registry what a reference means. `architectures` are those that can be run, the
   * best first. Throws `ImageGoneError` or `RegistryBusyError`.
   */
  resolve(reference: string, architectures: readonly Architecture[]): Promise<ResolvedImage>;
}

import type { CheckedImage, ImageChecks } from '../../adapters/sandbox/docker/image-check.ts';
import { ImageUnavailableError } from '../../core/ports/sandbox.ts';
import { oneSafeLine } from '../terminal/format.ts';

const CHECKS_AT_ONCE = 4;
const SHOWN_IMAGES = 5;
const SHOWN_CHARACTERS = 300;
/** `sha256:` and the digits that Docker shows. */
const SHOWN_DIGEST = 19;

export interface ImagePreflight {
  /** Those that are there, in the order asked. */
  checked: CheckedImage[];
  /** What a person should know of images, as lines. */
  lines: string[];
}

/** Looks for all images, or pulls them, a few at a time; those that can't be had stop no other. */
export async function checkImages(
  checks: ImageChecks,
  images: readonly string[],
  signal: AbortSignal,
): Promise<ImagePreflight> {
  const found = new Map<string, CheckedImage>();
  const missing: string[] = [];
  const unanswered: string[] = [];
  const left = images.values();
  async function check(image: string) {
    try {
      found.set(image, await checks.check(image));
    } catch (error) {
      const reasons = error instanceof ImageUnavailableError ? missing : unanswered;
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  async function work() {
    for (const image of left) if (!signal.aborted) await check(image);
  }
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, work));
  const checked = images.flatMap((image) => found.get(image) ?? []);
  const moved = checked.filter(({ hasMoved }) => hasMoved);
  const lines = [
    ...listed(
      `images that can't be had: ${missing.length} of ${images.length}; their prompts end as failed/image_unavailable`,
      missing,
    ),
    ...listed(
      `images that Docker did not answer for: ${unanswered.length} of ${images.length}; their prompts end as failed/sandbox_lost`,
      unanswered,
    ),
    ...movedLine(moved),
  ];
  return { checked, lines };
}

function listed(title: string, reasons: readonly string[]): string[] {
  if (reasons.length === 0) return [];
  const shown = reasons.slice(0, SHOWN_IMAGES);
  return [title, ...shown.map((reason) => `  ${oneSafeLine(reason, SHOWN_CHARACTERS)}`)];
}

function movedLine(moved: readonly CheckedImage[]): string[] {
  if (moved.length === 0) return [];
  const names = moved.slice(0, SHOWN_IMAGES).map(({ reference, pin }) => {
    const digest = pin.slice(pin.lastIndexOf('@') + 1);
    return `${reference} (${digest.slice(0, SHOWN_DIGEST)}…)`;
  });
  const more = moved.length > names.length ? ', …' : '';
  return [
    oneSafeLine(
      `images whose tag has moved since the run began: ${moved.length}; the run goes on with those it began with: ${names.join(', ')}${more}`,
      SHOWN_CHARACTERS * 2,
    ),
  ];
}

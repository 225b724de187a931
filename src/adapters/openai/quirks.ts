/** What this provider has been found to refuse; kept for the rest of the run. */
export interface Quirks {
  /** Empty text beside tool calls goes as "" instead of null. */
  emptyContentAsText: boolean;
  /** Thinking is not handed back. */
  withoutThinking: boolean;
  /** The limit goes as `max_completion_tokens`. */
  newTokenLimit: boolean;
}

export const NO_QUIRKS: Quirks = {
  emptyContentAsText: false,
  withoutThinking: false,
  newTokenLimit: false,
};

/** What of a body a provider may refuse. */
export interface BodyTraits {
  hasEmptyContent: boolean;
  hasThinking: boolean;
  hasTokenLimit: boolean;
}

/**
 * The quirk that the words of a 400 or 422 complain of, if the body sent under `quirks` could be
 * its cause and has not been adapted yet.
 */
export function quirkComplainedOf(
  status: number,
  words: string,
  traits: BodyTraits,
  quirks: Quirks,
): keyof Quirks | undefined {
  if (status !== 400 && status !== 422) return undefined;
  if (traits.hasTokenLimit && !quirks.newTokenLimit && refusesTokenLimit(words)) {
    return 'newTokenLimit';
  }
  if (traits.hasThinking && !quirks.withoutThinking && refusesThinking(words)) {
    return 'withoutThinking';
  }
  if (traits.hasEmptyContent && !quirks.emptyContentAsText && refusesNullContent(words)) {
    return 'emptyContentAsText';
  }
  return undefined;
}

function refusesTokenLimit(words: string): boolean {
  return /max_completion_tokens/i.test(words) && /max_tokens/i.test(words);
}

function refusesThinking(words: string): boolean {
  const named =
    /reasoning_(?:details|content)|\breasoning\b|\bthinking\b|thought_signature|\bsignature\b/i;
  // "reasoning_content is missing" asks for the field: dropping it would make things worse.
  const wanted =
    /missing|must be (?:passed|included|provided|sent)|is required|reasoning[ ._]?effort/i;
  return named.test(words) && !wanted.test(words);
}

function refusesNullContent(words: string): boolean {
  // `\b` keeps `reasoning_content` and `content_filter` out.
  return (
    /\bcontents?\b/i.test(words) &&
    /null|none|nil\b|empty|blank|missing|required|string|valid|at least/i.test(words)
  );
}

/** Numbers by prompt id, exact and small: some 60 bytes a prompt, where a `Map` takes over 150. */
export interface PromptTable {
  readonly size: number;
  get(promptId: string): number | undefined;
  set(promptId: string, value: number): void;
  /** In the order in which their ids came first. */
  values(): IterableIterator<number>;
}

const HASH_WORDS = 8;
const DIGITS_A_WORD = 8;
const HASH_DIGITS = HASH_WORDS * DIGITS_A_WORD;
const MAX_OCCURRENCE_DIGITS = 9;
/** The words of the hash, then the occurrence. */
const KEY_WORDS = HASH_WORDS + 1;
const ENTRIES_A_BLOCK = 4096;
const FIRST_SLOTS = 1024;

const DASH = 0x2d;
const ZERO = 0x30;
const NO_DIGIT = 255;
/** By character code; lower case only, as ids are written. */
const HEX_DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  HEX_DIGITS[digit.charCodeAt(0)] = value;
}

interface Block {
  keys: Uint32Array;
  values: Float64Array;
}

/**
 * A hash table of whole keys in blocks that are never copied. Ids of another form than
 * `<64 hex>-<number>` are kept too, as they are.
 */
export function createPromptTable(): PromptTable {
  const blocks: Block[] = [];
  const odd = new Map<string, number>();
  const wanted = new Uint32Array(KEY_WORDS);
  /** The id whose key `wanted` is. */
  let wantedId = '';
  // Number of an entry plus one; 0 is free. At most half are taken.
  let slots = new Uint32Array(FIRST_SLOTS);
  let count = 0;

  /** Makes it the wanted key; false, with nothing to be found then, where it has another form. */
  function parse(promptId: string): boolean {
    // The same prompt is asked for several times in a row, by its outcome, its attempts, to be set.
    if (promptId === wantedId) return true;
    wantedId = '';
    for (let word = 0; word < HASH_WORDS; word += 1) {
      const value = wordAt(promptId, word * DIGITS_A_WORD);
      if (value === undefined) return false;
      wanted[word] = value;
    }
    const occurrence = occurrenceOf(promptId);
    if (occurrence === undefined) return false;
    wanted[HASH_WORDS] = occurrence;
    wantedId = promptId;
    return true;
  }

  function isWanted(entry: number): boolean {
    const { keys } = blockOf(entry);
    const at = (entry % ENTRIES_A_BLOCK) * KEY_WORDS;
    for (let word = 0; word < KEY_WORDS; word += 1) {
      if (keys[at + word] !== wanted[word]) return false;
    }
    return true;
  }

  function blockOf(entry: number): Block {
    const number = Math.floor(entry / ENTRIES_A_BLOCK);
    const known = blocks[number];
    if (known !== undefined) return known;
    const made = {
      keys: new Uint32Array(ENTRIES_A_BLOCK * KEY_WORDS),
      values: new Float64Array(ENTRIES_A_BLOCK),
    };
    blocks[number] = made;
    return made;
  }

  /** The slot of the wanted key, or the free one where it belongs. */
  function find(): number {
    let slot = firstSlot(wanted, 0, slots.length);
    for (;;) {
      const taken = slots[slot] ?? 0;
      if (taken === 0 || isWanted(taken - 1)) return slot;
      slot = (slot + 1) % slots.length;
    }
  }

  function grow(): void {
    slots = new Uint32Array(slots.length * 2);
    for (let entry = 0; entry < count; entry += 1) {
      const { keys } = blockOf(entry);
      let slot = firstSlot(keys, (entry % ENTRIES_A_BLOCK) * KEY_WORDS, slots.length);
      while (slots[slot] !== 0) slot = (slot + 1) % slots.length;
      slots[slot] = entry + 1;
    }
  }

  function add(slot: number): number {
    const entry = count;
    blockOf(entry).keys.set(wanted, (entry % ENTRIES_A_BLOCK) * KEY_WORDS);
    slots[slot] = entry + 1;
    count += 1;
    if (count * 2 > slots.length) grow();
    return entry;
  }

  return {
    get size() {
      return count + odd.size;
    },
    get(promptId) {
      if (!parse(promptId)) return odd.get(promptId);
      const taken = slots[find()] ?? 0;
      return taken === 0 ? undefined : blockOf(taken - 1).values[(taken - 1) % ENTRIES_A_BLOCK];
    },
    set(promptId, value) {
      if (!parse(promptId)) {
        odd.set(promptId, value);
        return;
      }
      const slot = find();
      const taken = slots[slot] ?? 0;
      const entry = taken === 0 ? add(slot) : taken - 1;
      blockOf(entry).values[entry % ENTRIES_A_BLOCK] = value;
    },
    *values() {
      for (let entry = 0; entry < count; entry += 1) {
        yield blockOf(entry).values[entry % ENTRIES_A_BLOCK] ?? 0;
      }
      yield* odd.values();
    },
  };
}

/** The hash is SHA-256, so any of its words is spread evenly. */
function firstSlot(keys: Uint32Array, at: number, slots: number): number {
  return ((keys[at] ?? 0) + (keys[at + HASH_WORDS] ?? 0) * 7) % slots;
}

/** The number of eight digits; undefined where something else is among them. */
function wordAt(promptId: string, start: number): number | undefined {
  let value = 0;
  for (let at = start; at < start + DIGITS_A_WORD; at += 1) {
    const digit = HEX_DIGITS[promptId.charCodeAt(at)] ?? NO_DIGIT;
    if (digit === NO_DIGIT) return undefined;
    value = (value << 4) | digit;
  }
  return value >>> 0;
}

/** The number behind the dash; undefined for one that is not written as numbers are. */
function occurrenceOf(promptId: string): number | undefined {
  if (promptId.charCodeAt(HASH_DIGITS) !== DASH) return undefined;
  const first = HASH_DIGITS + 1;
  const digits = promptId.length - first;
  if (digits < 1 || digits > MAX_OCCURRENCE_DIGITS) return undefined;
  if (digits > 1 && promptId.charCodeAt(first) === ZERO) return undefined;
  let value = 0;
  for (let at = first; at < promptId.length; at += 1) {
    const digit = promptId.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

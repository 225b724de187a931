/** Numbers by prompt id, exact and small: some 60 bytes a prompt, where a `Map` takes over 150. */
export interface PromptTable {
  readonly size: number;
  get(promptId: string): number | undefined;
  set(promptId: string, value: number): void;
  /** In the order in which their ids came first. */
  values(): IterableIterator<number>;
}

const WELL_FORMED = /^[0-9a-f]{64}-(?:0|[1-9]\d{0,8})$/;
const HASH_WORDS = 8;
const DIGITS_A_WORD = 8;
/** The words of the hash, then the occurrence. */
const KEY_WORDS = HASH_WORDS + 1;
const ENTRIES_A_BLOCK = 4096;
const FIRST_SLOTS = 1024;

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
  // Number of an entry plus one; 0 is free. At most half are taken.
  let slots = new Uint32Array(FIRST_SLOTS);
  let count = 0;

  function parse(promptId: string): void {
    for (let word = 0; word < HASH_WORDS; word += 1) {
      const at = word * DIGITS_A_WORD;
      wanted[word] = Number.parseInt(promptId.slice(at, at + DIGITS_A_WORD), 16);
    }
    wanted[HASH_WORDS] = Number(promptId.slice(HASH_WORDS * DIGITS_A_WORD + 1));
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
      if (!WELL_FORMED.test(promptId)) return odd.get(promptId);
      parse(promptId);
      const taken = slots[find()] ?? 0;
      return taken === 0 ? undefined : blockOf(taken - 1).values[(taken - 1) % ENTRIES_A_BLOCK];
    },
    set(promptId, value) {
      if (!WELL_FORMED.test(promptId)) {
        odd.set(promptId, value);
        return;
      }
      parse(promptId);
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

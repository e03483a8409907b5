const CHUNK_BITS = 1 << 16;

/**
 * A set of record ids in little memory: ids that are plain whole numbers below 2^32 cost a bit each (8 KiB for every 65,536 in
 * a row), all others an entry of a Set. A million dense ids take 125 KiB.
 */
export interface IdSet {
  /** False when the id was there already. */
  add(id: string): boolean;
  has(id: string): boolean;
  readonly size: number;
}

export function createIdSet(): IdSet {
  const chunks = new Map<number, Uint32Array>();
  const others = new Set<string>();
  let size = 0;

  return {
    add(id) {
      const number = toUint32(id);
      if (number === null) {
        if (others.has(id)) return false;
        others.add(id);
        size += 1;
        return true;
      }
      const key = Math.floor(number / CHUNK_BITS);
      let chunk = chunks.get(key);
      if (!chunk) {
        chunk = new Uint32Array(CHUNK_BITS / 32);
        chunks.set(key, chunk);
      }
      const bit = number % CHUNK_BITS;
      const word = chunk[bit >>> 5] ?? 0;
      const mask = 1 << (bit & 31);
      if ((word & mask) !== 0) return false;
      chunk[bit >>> 5] = word | mask;
      size += 1;
      return true;
    },
    has(id) {
      const number = toUint32(id);
      if (number === null) return others.has(id);
      const bit = number % CHUNK_BITS;
      const word = chunks.get(Math.floor(number / CHUNK_BITS))?.[bit >>> 5] ?? 0;
      return (word & (1 << (bit & 31))) !== 0;
    },
    get size() {
      return size;
    },
  };
}

/** The number that an id spells, or null: `007` and `7` are two ids. */
function toUint32(id: string): number | null {
  if (id.length > 10 || !/^(0|[1-9]\d*)$/.test(id)) return null;
  const number = Number(id);
  return number <= 0xffffffff ? number : null;
}

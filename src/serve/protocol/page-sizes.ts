import type { Resource } from "../../resources/resources.ts";

/** From so many bytes on, a page takes long enough that small replies should not wait for it. */
const LARGE_BYTES = 128 * 1024;
/** Before the first page was made. */
const USUAL_RECORD_BYTES = 2000;
/** The share of the newest page in what is expected of the next one. */
const NEWEST_SHARE = 0.2;

/** What pages cost: their bytes, as those before have shown. */
export function createPageSizes() {
  const recordBytes = new Map<Resource, number>();
  const expected = (resource: Resource) => recordBytes.get(resource) ?? USUAL_RECORD_BYTES;

  return {
    isLarge: (resource: Resource, limit: number) => limit * expected(resource) >= LARGE_BYTES,
    note(resource: Resource, records: number, bytes: number): void {
      if (records === 0) return;
      const before = expected(resource);
      recordBytes.set(resource, before + (bytes / records - before) * NEWEST_SHARE);
    },
  };
}

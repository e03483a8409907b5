import { assertCount } from "./assert-count.ts";

/** The records of a list, each when it is asked for. */
export interface RecordList<T> extends AsyncGenerator<T, void, undefined> {
  /**
   * The first records as an array, `max` at most, and no page more than they need. As many as `max` may mean that the
   * list has more. Rejects as the list does.
   */
  toArray(options: { max: number }): Promise<T[]>;
}

export function recordList<T>(records: AsyncGenerator<T, void, undefined>): RecordList<T> {
  return Object.assign(records, {
    async toArray(options: { max: number }) {
      // Programs in JavaScript may leave the options out.
      const max = options?.max;
      assertCount("max", max, 1);
      const found: T[] = [];
      for await (const record of records) if (found.push(record) >= max) break;
      return found;
    },
  });
}

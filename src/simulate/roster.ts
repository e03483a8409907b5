/** The rows of a resource, by id and in the order of their list. `compare` must order any two different rows. */
export function createRoster<T extends { id: number }>(compare: (a: T, b: T) => number) {
  const byId = new Map<number, T>();
  let ordered: T[] = [];
  let revision = 0;

  function position(row: T): number {
    let low = 0;
    let high = ordered.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = ordered[middle];
      if (other !== undefined && compare(other, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    get ordered(): readonly T[] {
      return ordered;
    },
    /** Increases with each change. `touch` reports a change inside a row. */
    get revision() {
      return revision;
    },
    find: (id: number) => byId.get(id),
    add(row: T): void {
      byId.set(row.id, row);
      ordered.splice(position(row), 0, row);
      revision++;
    },
    /** Adds many rows with one sort. */
    addAll(rows: Iterable<T>): void {
      for (const row of rows) {
        byId.set(row.id, row);
        ordered.push(row);
      }
      ordered.sort(compare);
      revision++;
    },
    remove(row: T): boolean {
      if (!byId.delete(row.id)) return false;
      ordered.splice(position(row), 1);
      revision++;
      return true;
    },
    removeWhere(goes: (row: T) => boolean): T[] {
      const gone = ordered.filter(goes);
      if (gone.length === 0) return gone;
      ordered = ordered.filter((row) => !goes(row));
      for (const row of gone) byId.delete(row.id);
      revision++;
      return gone;
    },
    touch(): void {
      revision++;
    },
    /** In the order of creation. */
    byBirth: (): Iterable<T> => byId.values(),
  };
}

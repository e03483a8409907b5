import type { Micros } from "./local-dates.ts";

const FIRST_ID = 90_001;
const NO_VERSION = -1;

export type BuildStore = ReturnType<typeof createBuildStore>;

/**
 * The basic facts of all builds in columns of numbers: 32 bytes a build, and 4 for its place in the list.
 * Everything else about a build is computed from its row number on request.
 */
export function createBuildStore(capacity: number) {
  let size = Math.max(capacity, 1024);
  let createdAt = new Float64Array(size);
  let date = new Float64Array(size);
  let project = new Int32Array(size);
  let version = new Int32Array(size);
  let deletedAt = new Float64Array(size);
  /** Rows that are not deleted, oldest date first. New builds mostly go to the end. */
  let order = new Int32Array(size);
  let rowCount = 0;
  let liveCount = 0;

  function grow(): void {
    size = Math.ceil(size * 1.5);
    const copy = <A extends Float64Array | Int32Array>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    createdAt = copy(createdAt, new Float64Array(size));
    date = copy(date, new Float64Array(size));
    deletedAt = copy(deletedAt, new Float64Array(size));
    project = copy(project, new Int32Array(size));
    version = copy(version, new Int32Array(size));
    order = copy(order, new Int32Array(size));
  }

  const at = (column: Float64Array | Int32Array, index: number): number => column[index] ?? Number.NaN;

  return {
    /** How many rows were ever created. A deleted build keeps its row. */
    get rowCount() {
      return rowCount;
    },
    get liveCount() {
      return liveCount;
    },
    add(build: { createdAt: Micros; date: Micros; project: number; version: number | null }): number {
      if (rowCount === size) grow();
      const row = rowCount++;
      createdAt[row] = build.createdAt;
      date[row] = build.date;
      project[row] = build.project;
      version[row] = build.version ?? NO_VERSION;
      deletedAt[row] = Number.POSITIVE_INFINITY;
      let place = liveCount++;
      while (place > 0 && at(date, at(order, place - 1)) > build.date) {
        order[place] = at(order, place - 1);
        place--;
      }
      order[place] = row;
      return row;
    },
    createdAt: (row: number): Micros => at(createdAt, row),
    /** The local date on the wire. It may be earlier than that of an older build. */
    date: (row: number): Micros => at(date, row),
    project: (row: number): number => at(project, row),
    version: (row: number): number | null => (version[row] === NO_VERSION ? null : at(version, row)),
    /** Infinity while the build exists. */
    deletedAt: (row: number): Micros => at(deletedAt, row),
    /** The row at a place in the list, newest date first. The place must be below `liveCount`. */
    rowAt: (place: number): number => at(order, liveCount - 1 - place),
    remove(row: number, moment: Micros): boolean {
      const place = order.subarray(0, liveCount).lastIndexOf(row);
      if (place < 0) return false;
      order.copyWithin(place, place + 1, liveCount);
      liveCount--;
      deletedAt[row] = moment;
      return true;
    },
    /** Removes the rows for which `goes` returns true, in one pass, and returns them. */
    removeWhere(goes: (row: number) => boolean, moment: Micros): number[] {
      const gone: number[] = [];
      let kept = 0;
      for (let place = 0; place < liveCount; place++) {
        const row = at(order, place);
        if (goes(row)) {
          deletedAt[row] = moment;
          gone.push(row);
        } else order[kept++] = row;
      }
      liveCount = kept;
      return gone;
    },
    idOf: (row: number): number => row + FIRST_ID,
    /** Undefined for an unknown id and for a deleted build. */
    rowOf(id: number): number | undefined {
      const row = id - FIRST_ID;
      return row < rowCount && deletedAt[row] === Number.POSITIVE_INFINITY ? row : undefined;
    },
  };
}

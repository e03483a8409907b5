import {
  type BisectionParts,
  type DatedPage,
  type OpenRange,
  shownWhole,
} from "../../src/mirror/walk/bisection.ts";
import { createRandom } from "./model-list.ts";

export interface DatedListOptions {
  /** Equal options with an equal seed give an equal list, and equal things happen to it. */
  seed: number;
  size: number;
  /** The most records of one date. @default 1 */
  tied?: number;
  /** What happens to it. @default "any" */
  kind?: "deletions" | "old births" | "any";
  rate?: number;
  /** The replies come from one of two servers, the other one so many requests behind. @default 0, there is one */
  lag?: number;
}

type Dated = { id: number; date: number };

/** A list of builds, newest first, and a mirror of it: no HTTP and no database, so that thousands of schedules can be tried. */
export function createDatedList(options: DatedListOptions) {
  const { seed, size, tied = 1, kind = "any" } = options;
  let { rate = 0, lag = 0 } = options;
  const random = createRandom(seed);
  const below = (end: number) => Math.floor(random() * end);
  let nextId = 0;
  let date = 0;
  let list: Dated[] = [];
  /** Earlier states of the list, the newest last. */
  const states: Dated[][] = [];
  for (let left = 0; list.length < size; left--) {
    if (left <= 0) {
      date += 1000;
      left = 1 + below(tied);
    }
    list.unshift({ id: nextId++, date });
  }
  /** What the mirror has, live and not missing, and what it takes for missing. */
  const stored = new Map(list.map((one) => [one.id, one.date]));
  let before = new Set(stored.keys());
  const missing = new Set<number>();

  function insert(at: number): void {
    const one = { id: nextId++, date: at };
    const place = list.findIndex((other) => other.date <= at);
    list = place < 0 ? [...list, one] : list.toSpliced(place, 0, one);
  }

  const model = {
    /** Deletes records, the next ones behind a place together. */
    remove(count = 1, at = below(list.length)): void {
      list = list.toSpliced(at, count);
    },
    insertOld: () => insert(below(date)),
    bear(): void {
      date += 1000;
      insert(date);
    },
    happen(): void {
      const chance = random();
      if (chance < 0.4) model.bear();
      else if (kind === "deletions" || (kind === "any" && chance < 0.7)) model.remove(1 + below(3));
      else model.insertOld();
    },
    /** Reads pages from the start until one shows nothing new, as a head does, and returns that one. */
    readHead(limit: number): DatedPage {
      const shown = new Set<number>();
      // What this reading stored may lie above a gap, to which it steps back.
      const known = new Set(stored.keys());
      for (let offset = 0; ; ) {
        const { page, ids } = reply(offset, limit);
        // A page that shows none of those before it may leave a gap: records went in front of it.
        if (offset > 0 && ![...ids].some((id) => shown.has(id))) {
          offset = Math.max(0, offset - 2 * limit);
          continue;
        }
        for (const id of ids) shown.add(id);
        if ([...ids].some((id) => !known.has(id)) && page.dates.length === limit) {
          offset += limit - 2;
          continue;
        }
        const range = shownWhole(page);
        // Together its pages show all that is newer.
        if (range) judge({ ...range, olderThan: null }, shown);
        return page;
      }
    },
    parts: {
      read: async (offset, limit) => take(offset, limit),
      count: async (ranges) =>
        ranges.map(({ newest, oldest }) => {
          const [from, to] = [Number(newest), Number(oldest ?? "0")];
          let count = 0;
          for (const [id, at] of stored) if (at >= to && at <= from && !missing.has(id)) count += 1;
          return count;
        }),
    } satisfies BisectionParts,
    /** The details of what is missing are asked for: what answers is there, and hidden. Returns the false ones, which are there. */
    settle(): number[] {
      const there = new Set(list.map(({ id }) => id));
      const found = [...missing].filter((id) => there.has(id));
      for (const id of missing) stored.delete(id);
      missing.clear();
      return found;
    },
    get shown() {
      return stored.size - missing.size;
    },
    get missing() {
      return missing.size;
    },
    isEqual(): boolean {
      return model.shown === list.length && list.every(({ id }) => stored.has(id) && !missing.has(id));
    },
    get length() {
      return list.length;
    },
    /** The next run begins: nothing happens any more, and all replies are of now. */
    rest(): void {
      before = new Set(stored.keys());
      rate = 0;
      lag = 0;
    },
  };

  function reply(offset: number, limit: number): { page: DatedPage; ids: ReadonlySet<number> } {
    for (let chance = rate; random() * (1 + chance) < chance; ) model.happen();
    states.push(list);
    while (states.length > lag + 1) states.shift();
    const state = (lag > 0 && random() < 0.5 ? states[0] : states.at(-1)) ?? list;
    const records = state.slice(offset, offset + limit);
    for (const one of records) {
      stored.set(one.id, one.date);
      missing.delete(one.id);
    }
    const isEnd = records.length < limit && offset + records.length === state.length && records.length > 0;
    const page = {
      offset,
      places: state.length,
      dates: records.map((one) => text(one.date)),
      behind: isEnd ? 0 : null,
    };
    return { page, ids: new Set(records.map(({ id }) => id)) };
  }

  function judge({ newerThan, olderThan }: OpenRange, ids: ReadonlySet<number>): void {
    const [from, to] = [Number(olderThan ?? Number.POSITIVE_INFINITY), Number(newerThan ?? -1)];
    for (const [id, at] of stored)
      if (before.has(id) && at < from && at > to && !ids.has(id)) missing.add(id);
  }

  function take(offset: number, limit: number): DatedPage {
    const { page, ids } = reply(offset, limit);
    const range = shownWhole(page);
    if (range) judge(range, ids);
    return page;
  }

  return model;
}

const text = (date: number) => String(date).padStart(12, "0");

import { HttpStatusError } from "../../src/base/errors.ts";
import type { FetchedPage } from "../../src/mirror/walk/page.ts";
import { createGuessRecord, type PageSource } from "../../src/mirror/walk/page-source.ts";
import { type PageRequest, parsePageRequest, requestText } from "../../src/resources/page-request.ts";

/**
 * How the server of a list sorts it: by a key of which no two are equal; by one that four share at the start, in another order
 * for every request; in another order for every request; by nothing: a record that is written moves to another place.
 */
export type ModelOrder = "fixed" | "ties" | "shuffled" | "storage";

/**
 * Where the server takes `total_count` from: the list as it is; a number that was counted a while ago, and was wrong by some
 * records even then; a guess that is wrong by up to a third, always in the same direction; the list as it was a few replies ago; too few or too
 * many for good.
 */
export type ModelCount = "honest" | "cached" | "estimated" | "lagging" | "low" | "high";

/** What a service may become on one day. */
export interface ModelChange {
  maxLimit?: number;
  /** It still counts all records, but shows only the first of them: no page goes beyond the shown part. */
  isCut?: boolean;
  /** All dates move by so much. */
  moved?: number;
}

export interface ModelOptions {
  /** Equal options with an equal seed give an equal list, and equal things happen to it. */
  seed: number;
  size: number;
  order: ModelOrder;
  /** Events before each page that is served, on average. @default 0 */
  rate?: number;
  /** The share of events that are a pair: one record comes at the head and another one goes, so the count stays. @default 0 */
  pairs?: number;
  /** @default "honest" */
  count?: ModelCount;
  /** Whether `next` is computed from that count. @default the list as it is */
  nextByCount?: boolean;
  /** The share of records that are left out of their page, after the page was sliced. @default 0 */
  hidden?: number;
  /** The share of pages that are cut short although they have a next one. @default 0 */
  cut?: number;
  /** The share of requests that are answered as by an empty list: no record, a count of 0, and no next page. @default 0 */
  blank?: number;
  /** Neighbouring records that one event touches, at most. @default 1 */
  burst?: number;
  /** Pages that are served before the list is quiet for good. @default Infinity */
  quietAfter?: number;
  /** Events in all, at most. @default Infinity */
  maxEvents?: number;
  /** The server's own maximum. @default 1000 */
  maxLimit?: number;
  /** Pages under way at once. The server answers them in an order of its own, before the first is taken. @default 0 */
  lookAhead?: number;
  /** Whether pages show that they are sorted, as builds do. @default false */
  showsOrder?: boolean;
  /** The share of records that cannot be rendered; a page with such a record answers 500. @default 0 */
  unrenderable?: number;
  /** The share of records that have no id. @default 0 */
  nameless?: number;
  /** The share of records that stand twice in the list, next to each other, as by a JOIN. @default 0 */
  doubled?: number;
  recordBytes?: number;
  /** The time that a record of a page takes, in milliseconds. @default 0 */
  recordMs?: number;
  /** More records than this never come on a page, though `meta` and `next` do not say so. @default Infinity */
  silentCap?: number;
  /** Larger pages than this have no next one. @default Infinity */
  nullAbove?: number;
  /** Larger pages than this are answered with 504. @default Infinity */
  mostServed?: number;
  /** Pages after which the server has had enough: the walk would not end. @default 100,000 */
  patience?: number;
}

interface ModelRecord {
  id: number;
  key: number;
  /** When it came, as the last time. */
  came: number;
  isRenderable: boolean;
  isHidden: boolean;
  isNamed: boolean;
  isDoubled: boolean;
}

/** A cut list keeps back so many of its records, and such a share of them. */
const LEAST_CUT = 25;
const CUT_SHARE = 0.4;

export type ModelList = ReturnType<typeof createModelList>;

/** A page that is larger holds all records of one key. */
const MOST_SHARING = 8;
const EPOCH = Date.UTC(2024, 4, 15);
const { POSITIVE_INFINITY: ENDLESS } = Number;

/** A list that changes while it is walked, served as a page source: no HTTP, so that many thousands of schedules can be tried. */
export function createModelList(options: ModelOptions) {
  const { order, rate = 0, burst = 1, quietAfter = ENDLESS, unrenderable = 0, nameless = 0 } = options;
  const { doubled = 0, lookAhead = 0, showsOrder = false, patience = 100_000, count = "honest" } = options;
  const { nextByCount = false, hidden = 0, cut = 0, pairs = 0, blank = 0, silentCap = ENDLESS } = options;
  const { nullAbove = ENDLESS, recordBytes = 0, recordMs = 0, mostServed = ENDLESS } = options;
  let { maxLimit = 1000 } = options;
  let isCut = false;
  const random = createRandom(options.seed);
  const below = (end: number) => Math.floor(random() * end);
  let eventsLeft = options.maxEvents ?? ENDLESS;
  let nextId = 0;
  let now = EPOCH;
  const create = (key: number): ModelRecord => ({
    id: nextId++,
    key,
    came: now,
    isNamed: nameless === 0 || random() >= nameless,
    isRenderable: unrenderable === 0 || random() >= unrenderable,
    isHidden: hidden > 0 && random() < hidden,
    isDoubled: doubled > 0 && random() < doubled,
  });
  const placesOf = (list: readonly ModelRecord[]) =>
    list.flatMap((one) => (one.isDoubled ? [one, one] : [one]));
  const records = Array.from({ length: options.size }, (_, at) => create(order === "ties" ? at >> 2 : at));
  const gone: ModelRecord[] = [];
  const ahead = new Map<string, FetchedPage | HttpStatusError>();
  let served = 0;
  const guesses = createGuessRecord();
  const wrongBy = count === "honest" || count === "lagging" ? 0 : random() * 2 - 1;
  const lengths: number[] = [];
  let cached = Math.max(0, records.length + Math.round(wrongBy * 20));

  function insert(place = below(records.length + 1)): void {
    const group = order === "ties" ? records.filter((one) => one.key === records[place]?.key) : [];
    const [first] = group.length >= MOST_SHARING ? group : [];
    const at = first ? records.indexOf(first) : place;
    const before = records[at - 1]?.key ?? (records[at]?.key ?? 0) - 1;
    const behind = records[at]?.key ?? before + 1;
    // One more with the same key, or between its neighbours.
    const key = order === "ties" && !first ? behind : before + (behind - before) * (0.25 + random() / 2);
    records.splice(at, 0, create(key));
  }

  function remove(): void {
    gone.push(...records.splice(below(records.length), 1 + below(burst)));
  }

  /** What was deleted comes back at its old place. */
  function restore(): void {
    const [record] = gone.splice(below(gone.length), 1);
    if (!record) return;
    const at = records.findIndex(({ key }) => key > record.key);
    records.splice(at === -1 ? records.length : at, 0, { ...record, came: now });
  }

  function move(): void {
    const [record] = records.splice(below(records.length), 1);
    if (record) records.splice(below(records.length + 1), 0, record);
  }

  function happen(): void {
    const kind = random();
    if (pairs > 0 && random() < pairs) {
      insert(0);
      remove();
    } else if (order === "storage" && kind < 0.3) move();
    else if (kind < 0.5) remove();
    else if (kind < 0.9) for (let count = 1 + below(burst); count > 0; count--) insert();
    else restore();
  }

  function change(): void {
    if (served >= quietAfter) return;
    for (let chance = rate; random() * (1 + chance) < chance && eventsLeft > 0; eventsLeft--) happen();
  }

  function counted(): number {
    const { length } = placesOf(records);
    lengths.push(length);
    if (count === "cached" && random() < 0.05) cached = length;
    if (count === "cached") return cached;
    if (count === "estimated") return Math.round(length * (1 + wrongBy / 3));
    const wrong = Math.ceil(Math.abs(wrongBy) * 15);
    if (count === "high") return length + wrong;
    if (count === "low") return Math.max(0, length - wrong);
    return (count === "lagging" ? lengths.at(-1 - below(Math.min(lengths.length, 5))) : length) ?? 0;
  }

  function sorted(): ModelRecord[] {
    if (order === "fixed" || order === "storage") return records;
    const shuffled = records.map((record) => ({ record, at: random() }));
    shuffled.sort(
      (one, other) => (order === "ties" ? one.record.key - other.record.key : 0) || one.at - other.at,
    );
    return shuffled.map(({ record }) => record);
  }

  function drop(isVain: (request: PageRequest) => boolean): void {
    const vain = [...ahead.keys()].filter((text) => {
      const request = parsePageRequest(text);
      return request && isVain(request);
    });
    if (vain.length > 0) guesses.miss();
    for (const text of vain) ahead.delete(text);
  }

  function serve(request: PageRequest): FetchedPage | HttpStatusError {
    now += 1;
    change();
    served += 1;
    if (served > patience) throw new Error(`the walk goes on after ${served} pages`);
    const text = requestText(request);
    const limit = Math.min(request.limit, maxLimit);
    const whole = placesOf(sorted());
    const isBlank = blank > 0 && random() < blank;
    const list = isBlank
      ? []
      : isCut
        ? whole.slice(0, -Math.max(LEAST_CUT, Math.ceil(CUT_SHARE * whole.length)))
        : whole;
    const end = request.offset + limit;
    const page = list.slice(request.offset, end);
    if (page.length > mostServed) return new HttpStatusError("504", { url: text, status: 504 });
    if (page.some(({ isRenderable }) => !isRenderable))
      return new HttpStatusError("500", { url: text, status: 500 });
    const totalCount = isBlank ? 0 : counted();
    const isLast = end >= (nextByCount ? totalCount : list.length) || request.limit > nullAbove;
    const next = isLast ? null : `${request.path}?format=json&limit=${limit}&offset=${end}`;
    const isShort = !isLast && random() < cut;
    const shown = page
      .slice(0, isShort ? 1 + below(limit) : Math.min(limit, silentCap))
      .filter(({ isHidden }) => !isHidden);
    const ties = shown.flatMap(({ key }, at) => (at > 0 && key === shown[at - 1]?.key ? [at] : []));
    const isSorted = shown.every(({ key }, at) => at === 0 || key >= (shown[at - 1]?.key ?? key));
    const meta = { limit, offset: request.offset, next, totalCount, count: shown.length };
    return {
      meta: { ...meta, showsOrder: showsOrder && isSorted, ...(ties.length > 0 && { ties }) },
      ids: shown.filter(({ isNamed }) => isNamed).map(({ id }) => String(id)),
      dates: null,
      records: shown,
      request: text,
      bodyHash: "",
      bytes: page.length * recordBytes,
      askedAt: new Date(now),
      observedAt: new Date(now + page.length * recordMs),
      tookMs: page.length * recordMs,
    };
  }

  const source: PageSource = {
    async take(request) {
      const text = requestText(request);
      const guess = ahead.get(text);
      if (guess) guesses.hit();
      else drop(({ limit, offset }) => limit !== request.limit || offset < request.offset);
      ahead.delete(text);
      const reply = guess ?? serve(request);
      if (reply instanceof HttpStatusError) throw reply;
      return reply;
    },
    lookAhead,
    askAhead(offsets, like) {
      drop(({ limit, offset }) => limit !== like.limit || !offsets.includes(offset));
      if (!guesses.isGood) return;
      const asked: PageRequest[] = [];
      for (const offset of offsets.slice(0, lookAhead)) {
        const request = { ...like, offset };
        if (!ahead.has(requestText(request))) asked.splice(below(asked.length + 1), 0, request);
      }
      for (const request of asked) ahead.set(requestText(request), serve(request));
    },
    get pending() {
      return [...ahead.keys()].map((text) => parsePageRequest(text)?.offset ?? 0);
    },
    isServiceUp: async () => true,
    close: () => ahead.clear(),
  };
  return {
    source,
    /** The ids of the records that were shown in the list all the time since then. */
    stable: (since = EPOCH) =>
      records
        .filter((one) => one.came <= since && one.isRenderable && !one.isHidden && one.isNamed)
        .map(({ id }) => String(id)),
    /** Lets so many events happen in so many milliseconds, as between two nights. */
    pass(events: number, ms = 0): void {
      now += 1;
      for (let left = events; left > 0; left--) happen();
      now += ms;
    },
    become(change: ModelChange): void {
      maxLimit = change.maxLimit ?? maxLimit;
      isCut = change.isCut ?? isCut;
      for (const record of [...records, ...gone]) record.key += change.moved ?? 0;
    },
    /** In milliseconds. Each reply takes one. */
    get now() {
      return now;
    },
    count: counted,
    /** The offsets of what cannot be rendered, as the list is now. */
    holes: () => records.flatMap(({ isRenderable }, at) => (isRenderable ? [] : [at])),
    /** Requests that were answered, also those that nobody took. */
    get served() {
      return served;
    },
  };
}

/** Numbers from 0 to below 1 that a seed repeats (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

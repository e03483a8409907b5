import type { Clock } from "../clock.ts";
import type { MirrorReader } from "../db/mirror-reader.ts";
import { sqlstateOf } from "../db/store-errors.ts";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Figures } from "../metrics/figures.ts";
import { type FiguresOptions, findFigures } from "./find-figures.ts";

/** Several scrapers, and an impatient one, get the same figures. */
const KEEP_MS = 5000;
/** A scrape has 10 s as a rule, and must say that the database is away. */
const WITHIN_MS = 2000;
/** A right or a table is missing: the database answers, but not with figures. */
const REFUSED = /^42/;

/** What the database said last. `figures` is null when it was away, or refused to tell. */
export interface FiguresReading {
  isUp: boolean;
  figures: Figures | null;
}

export interface FiguresReaderDeps {
  snapshot: MirrorReader["snapshot"];
  options: FiguresOptions;
  clock: Clock;
  log: Logger;
  /** How long a good answer is given again, in milliseconds. @default 5000 */
  keepMs?: number;
  /** How long a reader waits, in milliseconds. @default 2000 */
  withinMs?: number;
}

const AWAY: FiguresReading = { isUp: false, figures: null };

/**
 * Makes a function that reads the figures in 2 s at most and never rejects. One reading runs at a time: who asks
 * meanwhile gets its answer, and a reading that hangs is not repeated before it has ended.
 */
export function createFiguresReader(deps: FiguresReaderDeps): () => Promise<FiguresReading> {
  const { snapshot, options, clock, log, keepMs = KEEP_MS, withinMs = WITHIN_MS } = deps;
  let kept: { reading: FiguresReading; atMs: number } | null = null;
  let asking: Promise<FiguresReading> | null = null;
  let lastTrouble: string | null = null;

  async function ask(): Promise<FiguresReading> {
    const answered = new AbortController();
    const late = new AbortController();
    clock.sleep(withinMs, answered.signal).then(
      () => late.abort(new Error(`the database did not answer within ${withinMs} ms`)),
      () => {},
    );
    try {
      const figures = await snapshot((tx) => findFigures(tx, options), late.signal);
      lastTrouble = null;
      return { isUp: true, figures };
    } catch (error) {
      const trouble = messageOf(error);
      // A scrape comes every few seconds, so the same trouble is told once.
      if (trouble !== lastTrouble) log.warn({ error: trouble }, "could not read the figures for the metrics");
      lastTrouble = trouble;
      return { isUp: REFUSED.test(sqlstateOf(error) ?? ""), figures: null };
    } finally {
      answered.abort();
    }
  }

  async function askAndKeep(): Promise<FiguresReading> {
    try {
      const reading = await ask();
      // A database that is back shows at once.
      kept = reading.isUp ? { reading, atMs: clock.now().getTime() } : null;
      return reading;
    } finally {
      asking = null;
    }
  }

  return async () => {
    if (kept && Math.abs(clock.now().getTime() - kept.atMs) < keepMs) return kept.reading;
    asking ??= askAndKeep();
    const answered = new AbortController();
    const late = clock.sleep(withinMs, answered.signal).then(
      () => AWAY,
      () => AWAY,
    );
    try {
      return await Promise.race([asking, late]);
    } finally {
      answered.abort();
    }
  };
}

import type { createLogUpdate } from "log-update";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { counted, grouped, printable } from "../../base/text.ts";
import { styled } from "./output.ts";

export interface ProgressUpdate {
  /** Absent where rows do not come in pages. */
  pages?: number;
  records: number;
  /** Null while the service has not sent it. */
  totalCount: number | null;
  /** The run that walks; absent where there is none. */
  runId?: number;
  /** The end of the walk, such as "whole"; absent while it goes on. */
  done?: string;
  /** The word of the log instead of "walking", of this name alone, where the names are not those of lists. */
  doing?: string;
}

export interface Progress {
  /** Sets the counts so far; they are not added. Cheap: call it for every page. */
  update(resource: string, update: ProgressUpdate): void;
  /** Clears the bars, then runs `write`, which writes to the same terminal. */
  withoutBars(write: () => void): void;
  /** Draws the last state and leaves it on the screen. A second call does nothing. */
  stop(): void;
  isStopped(): boolean;
}

export interface ProgressDeps {
  stream: NodeJS.WritableStream & { columns?: number };
  /** Draws the bars. Null where none are drawn. */
  createBars: typeof createLogUpdate | null;
  /** The width where the stream reports none. */
  columns: number;
  colour: boolean;
  clock?: Clock;
  log: Logger;
}

const REDRAW_MS = 100;
const PLAIN_LINE_MS = 10_000;
const RATE_WINDOW_MS = 15_000;

/** Shows how far each resource is: bars on a terminal, elsewhere one log line at most every ten seconds. */
export function createProgress(deps: ProgressDeps): Progress {
  const clock = deps.clock ?? systemClock;
  const resources = new Map<string, ResourceProgress & { samples: [number, number][] }>();
  const bars = deps.createBars?.(deps.stream, { showCursor: true });
  let loggedAt = clock.now().getTime();
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function draw(): void {
    drawnAt = clock.now().getTime();
    // One column stays free: some terminals wrap when the last one is written.
    const width = (deps.stream.columns || deps.columns) - 1;
    const names = Math.max(...[...resources.keys()].map((name) => name.length));
    const lines = [...resources].map(([name, state]) => {
      return progressLine(name.padEnd(names), state, { width, colour: deps.colour });
    });
    bars?.(lines.join("\n"));
  }

  function logProgress(resource: string, { runId, doing }: ProgressUpdate): void {
    loggedAt = clock.now().getTime();
    const lists = [...resources].map(([name, state]) => {
      const { pages, records, totalCount, recordsPerSecond, secondsLeft: left, done } = state;
      const rate = { records_per_second: Math.round(recordsPerSecond) };
      const going = left === null ? rate : { ...rate, seconds_left: left };
      const facts = { pages, records, total_count: totalCount, ...(done === undefined ? going : { done }) };
      return [name, facts] as const;
    });
    const run = runId === undefined ? {} : { run_id: runId };
    const all = Object.fromEntries(lists);
    if (doing === undefined) deps.log.info({ ...run, lists: all }, "walking");
    else deps.log.info({ doing, ...all[resource] }, "under way");
  }

  return {
    update(resource, update) {
      if (isStopped) return;
      const now = clock.now().getTime();
      const samples = resources.get(resource)?.samples ?? [];
      samples.push([now, update.records]);
      while (samples.length > 2 && now - (samples[0]?.[0] ?? now) > RATE_WINDOW_MS) samples.shift();
      const [since, before] = samples[0] ?? [now, 0];
      const { records, totalCount } = update;
      const recordsPerSecond = now > since ? Math.max(0, ((records - before) * 1000) / (now - since)) : 0;
      const left = secondsLeft(records, totalCount, recordsPerSecond);
      resources.set(resource, { ...update, recordsPerSecond, secondsLeft: left, samples });
      if (bars === undefined) {
        if (now - loggedAt >= PLAIN_LINE_MS) logProgress(resource, update);
        return;
      }
      timer ??= setInterval(draw, REDRAW_MS).unref();
      if (now - drawnAt >= REDRAW_MS) draw();
    },
    withoutBars(write) {
      if (bars === undefined || isStopped || resources.size === 0) return write();
      // The timer draws the bars again, so that a burst of log lines does not make them flicker.
      bars.clear();
      write();
    },
    isStopped: () => isStopped,
    stop() {
      if (isStopped) return;
      isStopped = true;
      clearInterval(timer);
      if (bars === undefined || resources.size === 0) return;
      draw();
      bars.done();
    },
  };
}

function secondsLeft(records: number, totalCount: number | null, recordsPerSecond: number): number | null {
  if (totalCount === null || recordsPerSecond <= 0) return null;
  return Math.max(0, Math.round((totalCount - records) / recordsPerSecond));
}

export interface ResourceProgress {
  /** Absent where rows do not come in pages. */
  pages?: number;
  records: number;
  totalCount: number | null;
  recordsPerSecond: number;
  secondsLeft: number | null;
  done?: string;
}

const BAR_WIDTH = 20;

/**
 * Renders one resource on one line of at most `width` columns. On a narrow terminal the least important parts
 * are left out first: bar, pages, rate. The bar is ASCII, because the block characters are two columns wide
 * in some terminals.
 */
export function progressLine(
  name: string,
  state: ResourceProgress,
  style: { width: number; colour: boolean },
): string {
  const { pages, records, totalCount, recordsPerSecond, done } = state;
  const share = totalCount === null || totalCount === 0 ? null : Math.min(1, records / totalCount);
  const filled = share === null ? 0 : Math.floor(share * BAR_WIDTH);
  const bar = `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}]`;
  const counts =
    totalCount === null ? `${grouped(records)} rows` : `${grouped(records)} of ${grouped(totalCount)} rows`;
  const end = done === undefined ? timeLeft(state.secondsLeft) : printable(done);
  const parts = [
    { text: name, drop: 9 },
    { text: bar, drop: 0 },
    { text: counts, drop: 8 },
    { text: pages === undefined ? "" : counted(pages, "page"), drop: 1 },
    { text: `${grouped(Math.round(recordsPerSecond))}/s`, drop: 2 },
    { text: end, drop: 3 },
  ].filter((part) => part.text !== "" && !(done !== undefined && part.drop === 2));
  const length = () => parts.reduce((sum, part) => sum + part.text.length + 2, -2);
  while (parts.length > 1 && length() > style.width) {
    const least = parts.reduce((a, b) => (a.drop < b.drop ? a : b));
    parts.splice(parts.indexOf(least), 1);
  }
  return parts
    .map(({ text, drop }) => (drop >= 8 ? text : styled(formatOf(drop, done !== undefined), text, style)))
    .join("  ")
    .slice(0, parts.length > 1 ? undefined : Math.max(1, style.width));
}

function formatOf(drop: number, isDone: boolean): "green" | "cyan" | "gray" {
  if (drop > 0) return "gray";
  return isDone ? "green" : "cyan";
}

function timeLeft(seconds: number | null): string {
  if (seconds === null) return "";
  if (seconds < 60) return `${seconds} s left`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s left`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min left`;
}

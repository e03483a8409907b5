import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { createLogUpdate } from "log-update";
import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { wrapLog } from "../../../src/cli/context/run-command.ts";
import { createProgress, progressLine } from "../../../src/cli/output/progress.ts";

const ESCAPE = "\u001b[";

/** What a terminal shows of the text written to it: enough of one for the cursor moves and erasing of log-update. */
function screen(text: string): string[] {
  const rows: string[] = [""];
  let row = 0;
  let column = 0;
  function print(plain: string): void {
    for (const character of plain) {
      if (character === "\n") {
        row += 1;
        column = 0;
      } else {
        const line = (rows[row] ?? "").padEnd(column);
        rows[row] = line.slice(0, column) + character + line.slice(column + 1);
        column += 1;
      }
    }
  }
  const [before = "", ...commands] = text.split(ESCAPE);
  print(before);
  for (const command of commands) {
    const [all, count = "", action] = /^\??([\d;]*)([A-Za-z])/.exec(command) ?? [""];
    const by = Number(count || 1);
    if (action === "A") row = Math.max(0, row - by);
    if (action === "B") row += by;
    if (action === "G") column = by - 1;
    if (action === "K") rows[row] = count === "2" ? "" : (rows[row] ?? "").slice(0, column);
    if (action === "J") rows.splice(row, rows.length, (rows[row] ?? "").slice(0, column));
    print(command.slice(all.length));
  }
  return rows.filter((line) => line !== undefined && line !== "");
}

function setup(options: { isTty: boolean; columns?: number }) {
  const written: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    }),
    { columns: options.columns ?? 100, rows: 50, isTTY: options.isTty },
  );
  let nowMs = 1_700_000_000_000;
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const progress = createProgress({
    stream,
    createBars: options.isTty ? createLogUpdate : null,
    columns: 80,
    colour: false,
    clock: { now: () => new Date(nowMs), sleep: () => Promise.reject(new Error("nobody sleeps here")) },
    log,
  });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { progress, lines, text: () => written.join(""), pass, stream };
}

describe("progress on a terminal", () => {
  it("shows a bar with rows, pages, rate and time left for each resource", () => {
    const { progress, text, pass } = setup({ isTty: true });
    progress.update("user", { pages: 1, records: 0, totalCount: 4000 });
    pass(2000);
    progress.update("user", { pages: 20, records: 2000, totalCount: 4000 });
    progress.update("build", { pages: 1, records: 100, totalCount: null });
    progress.stop();
    expect(screen(text())).toEqual([
      "user   [##########----------]  2,000 of 4,000 rows  20 pages  1,000/s  2 s left",
      "build  [--------------------]  100 rows  1 page  0/s",
    ]);
  });

  it("shows how a walk ended in the place of its rate", () => {
    const { progress, text } = setup({ isTty: true });
    progress.update("user", { pages: 40, records: 4000, totalCount: 4000, done: "whole" });
    progress.stop();
    expect(screen(text())).toEqual(["user  [####################]  4,000 of 4,000 rows  40 pages  whole"]);
  });

  it("log lines stand above the bars and are not torn", () => {
    const { progress, text, pass, stream } = setup({ isTty: true });
    const bare = pino({ base: null }, { write: (line: string) => void stream.write(line) });
    const log = wrapLog(bare, progress.withoutBars);
    for (let page = 1; page <= 3; page++) {
      progress.update("user", { pages: page, records: page * 100, totalCount: 400 });
      log.child({ resource: "user" }).info({ page }, "a line");
      pass(1000);
    }
    progress.stop();
    const rows = screen(text());
    expect(rows).toHaveLength(4);
    expect(rows.slice(0, 3).map((row) => JSON.parse(row).page)).toEqual([1, 2, 3]);
    expect(rows[3]).toMatch(/^user {2}\[#{15}-{5}\]/);
  });

  it("does not draw more often than ten times a second", () => {
    const { progress, text } = setup({ isTty: true });
    for (let page = 1; page <= 1000; page++)
      progress.update("user", { pages: page, records: page, totalCount: 1000 });
    expect(screen(text())).toEqual(["user  [--------------------]  1 of 1,000 rows  1 page  0/s"]);
    progress.stop();
  });

  it("stops twice and says no more after it", () => {
    const { progress, text } = setup({ isTty: true });
    progress.update("user", { pages: 1, records: 1, totalCount: 2 });
    progress.stop();
    const before = text();
    progress.stop();
    progress.update("user", { pages: 2, records: 2, totalCount: 2 });
    expect(text()).toBe(before);
    setup({ isTty: true }).progress.stop();
  });
});

describe("progress elsewhere", () => {
  it("is one log line at most every ten seconds, with all resources in it", () => {
    const { progress, lines, text, pass } = setup({ isTty: false });
    for (let second = 0; second < 25; second++) {
      progress.update("build", { pages: second, records: second * 100, totalCount: 10_000, runId: 7 });
      progress.update("user", { pages: 3, records: 300, totalCount: 300, done: "whole" });
      pass(1000);
    }
    progress.stop();
    expect(text()).toBe("");
    expect(lines).toMatchObject([
      {
        msg: "walking",
        run_id: 7,
        lists: {
          build: { pages: 10, records: 1000, total_count: 10_000, records_per_second: 100, seconds_left: 90 },
          user: { pages: 3, records: 300, total_count: 300, done: "whole" },
        },
      },
      { msg: "walking", lists: { build: { pages: 20, records_per_second: 100, seconds_left: 80 } } },
    ]);
  });

  it("says what is done where no list is walked, with the rows of that alone", () => {
    const { progress, lines, pass } = setup({ isTty: false });
    progress.update("checked", { records: 500, totalCount: null, doing: "checking the backup" });
    pass(10_000);
    progress.update("restored", { records: 100, totalCount: 500, doing: "restoring" });
    expect(lines).toMatchObject([{ msg: "under way", doing: "restoring", records: 100, total_count: 500 }]);
    expect(lines[0]).not.toHaveProperty("checked");
  });
});

describe("progressLine", () => {
  const state = { pages: 120, records: 12_000, totalCount: 30_000, recordsPerSecond: 850, secondsLeft: 3725 };

  it.each([
    [100, "build  [########------------]  12,000 of 30,000 rows  120 pages  850/s  1 h 2 min left"],
    [62, "build  12,000 of 30,000 rows  120 pages  850/s  1 h 2 min left"],
    [60, "build  12,000 of 30,000 rows  850/s  1 h 2 min left"],
    [30, "build  12,000 of 30,000 rows"],
    [10, "build"],
    [3, "bui"],
  ])("fits into %i columns", (width, expected) => {
    const line = progressLine("build", state, { width, colour: false });
    expect(line).toBe(expected);
    expect(line.length).toBeLessThanOrEqual(width);
  });

  it("has the same text in colour", () => {
    const plain = progressLine("build", state, { width: 100, colour: false });
    const coloured = progressLine("build", state, { width: 100, colour: true });
    expect(coloured).not.toBe(plain);
    expect(stripVTControlCharacters(coloured)).toBe(plain);
  });

  it("tells an empty resource without dividing by nothing", () => {
    const none = { pages: 1, records: 0, totalCount: 0, recordsPerSecond: 0 };
    const empty = { ...none, secondsLeft: null, done: "whole" };
    expect(progressLine("file", empty, { width: 80, colour: false })).toContain("0 of 0 rows  1 page  whole");
  });
});

describe("wrapLog", () => {
  it("does not clear the bars for lines below the log's level", () => {
    const clear = vi.fn((write: () => void) => write());
    wrapLog(silentLog, clear).info("x");
    expect(clear).not.toHaveBeenCalled();
  });
});

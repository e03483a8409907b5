import { describe, expect, it } from "vitest";
import type { MirrorReader } from "../../src/db/mirror-reader.ts";
import { StoreError } from "../../src/errors.ts";
import type { Figures } from "../../src/metrics/figures.ts";
import { createFiguresReader } from "../../src/status/figures-reader.ts";
import { createHandClock, settle } from "../support/hand-clock.ts";
import { createKeptLog } from "../support/quick-world.ts";

const FIGURES = { openBuilds: [] } as unknown as Figures;
const AWAY = { isUp: false, figures: null };

/** A reader whose database answers when the test says so. */
function setup() {
  const clock = createHandClock("2026-11-03T12:00:00Z");
  const asked: { signal: AbortSignal | undefined; end(outcome: Figures | Error): void }[] = [];
  const snapshot = ((_fn: unknown, signal?: AbortSignal) =>
    new Promise<Figures>((resolve, reject) => {
      asked.push({
        signal,
        end: (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)),
      });
    })) as unknown as MirrorReader["snapshot"];
  const { log, messages } = createKeptLog();
  const options = { stuckAfterMs: 0, sourceTimezone: "Etc/UTC", isWorker: false };
  return { clock, asked, messages, read: createFiguresReader({ snapshot, options, clock, log }) };
}

describe("the figures of a scrape", () => {
  it("are read once for all who ask at the same time, and kept for five seconds", async () => {
    const { clock, asked, read } = setup();
    const both = [read(), read()];
    expect(asked).toHaveLength(1);
    asked[0]?.end(FIGURES);
    expect(await Promise.all(both)).toEqual(Array(2).fill({ isUp: true, figures: FIGURES }));
    await clock.advance(4999);
    await read();
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    void read();
    expect(asked).toHaveLength(2);
  });

  it("say after two seconds that the database is away, and do not ask it again before it has answered", async () => {
    const { clock, asked, read } = setup();
    const first = read();
    await clock.advance(2000);
    expect(await first).toEqual(AWAY);
    expect(asked[0]?.signal?.aborted).toBe(true);
    const second = read();
    await clock.advance(2000);
    expect(await second).toEqual(AWAY);
    expect(asked).toHaveLength(1);
    asked[0]?.end(new Error("cancelled"));
    await settle();
    await clock.advance(5000);
    const third = read();
    asked[1]?.end(FIGURES);
    expect(await third).toEqual({ isUp: true, figures: FIGURES });
  });

  it("are never those of before while the database is away, and its trouble is logged once", async () => {
    const { clock, asked, messages, read } = setup();
    void read();
    asked[0]?.end(FIGURES);
    await settle();
    for (const place of [1, 2]) {
      await clock.advance(5000);
      const next = read();
      asked[place]?.end(new StoreError("no connection", { sqlstate: "08006" }));
      expect(await next).toEqual(AWAY);
    }
    expect(messages()).toEqual(["could not read the figures for the metrics"]);
  });

  it("are absent where the role may not read them, although the database is there", async () => {
    const { asked, read } = setup();
    const reading = read();
    asked[0]?.end(new StoreError("permission denied for table notices", { sqlstate: "42501" }));
    expect(await reading).toEqual({ isUp: true, figures: null });
  });
});

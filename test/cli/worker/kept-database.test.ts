import { describe, expect, it } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createKeptDatabase } from "../../../src/cli/worker/kept-database.ts";
import type { OpenDatabase } from "../../../src/store/embedded/open-embedded.ts";
import type { Connections } from "../../../src/store/ledger/connections.ts";
import { createHandClock, settle } from "../../support/fake-clock.ts";

const never = new AbortController().signal;
const DOWN = new StoreError("down", { sqlstate: "ECONNREFUSED" });
const REFUSED = new StoreError("wrong password", { sqlstate: "28P01" });

/** `fault` says what the nth try meets. */
function setup(fault: (nth: number) => StoreError | false, isLoginFixed = false) {
  const clock = createHandClock("2026-03-10T12:00:00Z");
  const counts = { opened: 0, prepared: 0, closed: 0 };
  const kept = createKeptDatabase({
    program: "docmirror test",
    clock,
    log: silentLog,
    async open(): Promise<OpenDatabase> {
      counts.opened++;
      const close = async () => void counts.closed++;
      return { url: `postgres://opened-${counts.opened}`, describe: "", embedded: null, close };
    },
    async prepare() {
      const met = fault(++counts.prepared);
      if (met) throw met;
    },
    isLoginFixed,
    createConnections: (url) =>
      ({
        url: url as () => string,
        probe: { ask: (_doing, fn) => fn(undefined as never) },
        end: async () => {},
      }) as Connections,
  });
  /** Gives the URL of the connections. */
  const database = {
    ready: async (signal: AbortSignal) => (await kept.ready(signal)).url(),
    close: kept.close,
  };
  return { clock, database, counts };
}

describe("a kept database", () => {
  it("is opened once and asked each time whether it answers", async () => {
    const { database, counts } = setup(() => false);
    expect(await database.ready(never)).toBe("postgres://opened-1");
    expect(await database.ready(never)).toBe("postgres://opened-1");
    expect(counts).toEqual({ opened: 1, prepared: 2, closed: 0 });
    await database.close();
    await database.close();
    expect(counts.closed).toBe(1);
  });

  it("is waited for while it is down, a minute at most between two tries, and opened anew", async () => {
    const { database, clock, counts } = setup((nth) => nth <= 8 && DOWN);
    const ready = database.ready(never);
    await clock.advance((1 + 2 + 4 + 8 + 16 + 32 + 60 + 59) * 1000);
    await settle();
    expect(counts.prepared).toBe(8);
    await clock.advance(1000);
    expect(await ready).toBe("postgres://opened-9");
    expect(counts.closed).toBe(8);
  });

  it("is opened once by jobs that find it down at the same time", async () => {
    const { database, clock, counts } = setup((nth) => nth <= 2 && DOWN);
    const ready = Promise.all([database.ready(never), database.ready(never)]);
    await clock.advance(10_000);
    expect(await ready).toEqual(["postgres://opened-3", "postgres://opened-3"]);
    expect(counts).toEqual({ opened: 3, prepared: 4, closed: 2 });
  });

  it("throws what waiting cannot repair", async () => {
    const { database } = setup(() => REFUSED);
    await expect(database.ready(never)).rejects.toBe(REFUSED);
  });

  it("waits for a password that was right before", async () => {
    const { database, clock, counts } = setup((nth) => nth === 2 && REFUSED);
    await database.ready(never);
    const ready = database.ready(never);
    await clock.advance(1000);
    expect(await ready).toBe("postgres://opened-2");
    expect(counts).toEqual({ opened: 2, prepared: 3, closed: 1 });
  });

  it("does not wait for a password that only the next process can get", async () => {
    const { database } = setup((nth) => nth === 2 && REFUSED, true);
    await database.ready(never);
    await expect(database.ready(never)).rejects.toBe(REFUSED);
  });

  it("ends its waiting when it is told to stop", async () => {
    const { database } = setup(() => new StoreError("down", { sqlstate: "57P03" }));
    const stop = new AbortController();
    const ready = database.ready(stop.signal);
    await settle();
    stop.abort(new Error("enough"));
    await expect(ready).rejects.toThrow("enough");
  });
});

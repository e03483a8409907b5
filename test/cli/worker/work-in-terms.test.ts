import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { LockedError, StoreError } from "../../../src/base/errors.ts";
import { type Lead, workInTerms } from "../../../src/cli/worker/work-in-terms.ts";
import type { Connections } from "../../../src/store/ledger/connections.ts";
import type { Holder, Lease } from "../../../src/store/ledger/leases.ts";
import { createHandClock, settle } from "../../support/fake-clock.ts";

const DOWN = new StoreError("down", { sqlstate: "ECONNREFUSED" });
const LEADER: Holder = {
  term: 9,
  instance: "other1",
  pid: 4711,
  host: "host",
  since: "2026-03-10 11:00:00+00",
  renewed_at: "2026-03-10 12:00:00+00",
};
const LED = "another worker leads on this database: process 4711 on host, since 2026-03-10 11:00:00Z";

/** A process whose lead is in hand. Answers of `keep` stay until they are changed. */
function setup({ standsBy = true, endsInTime = true } = {}) {
  const clock = createHandClock("2026-03-10T12:00:00Z");
  const stop = new AbortController();
  const events: string[] = [];
  const lines: string[] = [];
  const hand = { isFree: true as boolean | Error, leads: true as boolean | Error, beforeTaken: () => {} };
  let number = 0;
  let lead: Lead | undefined;

  const createLease = (): Lease => ({
    term: ++number,
    async keep() {
      if (hand.leads instanceof Error) throw hand.leads;
      return hand.leads;
    },
    assertHolds: async () => {},
    release: async () => void events.push("released"),
  });
  const connections = {
    leases: {
      async take() {
        hand.beforeTaken();
        if (hand.isFree instanceof Error) throw hand.isFree;
        return hand.isFree ? createLease() : LEADER;
      },
    },
  } as unknown as Connections;
  const working = workInTerms({
    database: { ready: async () => connections, close: async () => {} },
    createJobs(given) {
      lead = given;
      return [];
    },
    standsBy,
    onUp: () => void events.push("up"),
    clock,
    log: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
    signal: stop.signal,
    createWorker: () => ({
      start: () => void events.push(`term ${number} began`),
      async stop() {
        events.push(`term ${number} ended`);
        return endsInTime;
      },
      states: () => ({}),
    }),
  });
  const ended = working.then(
    () => null,
    (error: unknown) => error,
  );
  onTestFinished(async () => {
    stop.abort(new Error("stop"));
    await ended;
  });
  return { clock, stop, events, hand, ended, lines, lead: () => lead };
}

describe("a worker among others", () => {
  it("leads when it can, and gives the lead up when it is stopped", async () => {
    const { clock, stop, events, ended } = setup();
    await clock.advance(20_000);
    expect(events).toEqual(["up", "term 1 began"]);
    const reason = new Error("stop");
    stop.abort(reason);
    expect(await ended).toBe(reason);
    expect(events).toEqual(["up", "term 1 began", "term 1 ended", "released"]);
  });

  it("gives the lead up at once when it is stopped while it takes it", async () => {
    const { stop, events, hand, ended } = setup();
    hand.beforeTaken = () => stop.abort(new Error("stop"));
    await ended;
    expect(events).toEqual(["released"]);
  });

  it("stands by while another one leads, and leads within 5 s of its end", async () => {
    const { clock, events, hand } = setup();
    hand.isFree = false;
    await clock.advance(60_000);
    expect(events).toEqual(["up"]);
    hand.isFree = true;
    await clock.advance(5000);
    expect(events).toEqual(["up", "term 1 began"]);
  });

  it("ends its jobs when it loses the lead, and has new ones in its next term", async () => {
    const { clock, events, hand } = setup();
    await clock.advance(1000);
    hand.leads = false;
    hand.isFree = false;
    await clock.advance(5000);
    expect(events.slice(1, 3)).toEqual(["term 1 began", "term 1 ended"]);
    hand.leads = true;
    hand.isFree = true;
    await clock.advance(5000);
    expect(events.at(-1)).toBe("term 2 began");
    expect(events.filter((event) => event === "up")).toHaveLength(1);
  });

  it("has not lost the lead while the database does not answer; the first answer decides", async () => {
    const { clock, events, hand } = setup();
    await clock.advance(1000);
    hand.leads = DOWN;
    await clock.advance(600_000);
    expect(events.at(-1)).toBe("term 1 began");
    hand.leads = false;
    hand.isFree = false;
    await clock.advance(6000);
    expect(events).toContain("term 1 ended");
  });

  it("gives its jobs a database that is ready only while it surely leads", async () => {
    const { clock, stop, hand, lead } = setup();
    await clock.advance(1000);
    hand.leads = DOWN;
    let isReady = false;
    const waiting = lead()?.database.ready(stop.signal);
    waiting?.then(() => (isReady = true)).catch(() => {});
    await clock.advance(3000);
    expect(isReady).toBe(false);
    hand.leads = true;
    await clock.advance(1000);
    expect(isReady).toBe(true);
  });

  it("ends where a run does not end after the lead was lost", async () => {
    const { clock, events, hand, ended } = setup({ endsInTime: false });
    await clock.advance(1000);
    hand.leads = false;
    await clock.advance(5000);
    expect(await ended).toMatchObject({ name: "StoreError", exitCode: 4 });
    // What still runs is ended by the next leader.
    expect(events).not.toContain("released");
  });

  it("waits where it has stood by and may not take the lead, and says so each hour", async () => {
    const { clock, events, hand, lines } = setup();
    hand.isFree = false;
    await clock.advance(10_000);
    hand.isFree = new StoreError("No space left on device", { sqlstate: "53100" });
    await clock.advance(90 * 60_000);
    expect(lines.filter((line) => line.includes("could not see who leads"))).toHaveLength(2);
    hand.isFree = true;
    await clock.advance(5000);
    expect(events).toEqual(["up", "term 1 began"]);
  });

  it("says each hour that it cannot show its lead, not each second", async () => {
    const { clock, hand, lines } = setup();
    await clock.advance(1000);
    hand.leads = new StoreError("could not keep the lead: the server takes no writes", { sqlstate: "25006" });
    await clock.advance(90 * 60_000);
    expect(lines.filter((line) => line.includes("could not show"))).toHaveLength(2);
  });

  it("ends at its start by a fault that waiting does not repair", async () => {
    const { clock, hand, ended } = setup();
    hand.isFree = new StoreError("no rights", { sqlstate: "42501" });
    await clock.advance(1000);
    expect(await ended).toBe(hand.isFree);
  });
});

describe("a watch", () => {
  it("does not stand by", async () => {
    const { clock, events, hand, ended } = setup({ standsBy: false });
    hand.isFree = false;
    await clock.advance(10_000);
    expect(await ended).toMatchObject({ name: "LockedError", message: LED });
    expect(events).toEqual([]);
  });

  it("ends when it loses the lead", async () => {
    const { clock, hand, ended } = setup({ standsBy: false });
    await settle();
    hand.leads = false;
    await clock.advance(5000);
    expect(await ended).toBeInstanceOf(LockedError);
  });
});

import { setMaxListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  HttpStatusError,
  LastingNetworkError,
  NetworkError,
  StoppedError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
} from "../../../src/base/errors.ts";
import { isRefusal, isUpstreamLost } from "../../../src/mirror/api/fates.ts";
import { createHostGate } from "../../../src/mirror/api/host-gate.ts";
import { createHostPace, type HostPace } from "../../../src/mirror/api/host-pace.ts";
import { linkSignals } from "../../../src/mirror/api/link-signals.ts";
import { MAX_RETRY_AFTER_MS, retryWaitMs, withRetries } from "../../../src/mirror/api/retry.ts";
import { createHandClock, settle } from "../../support/fake-clock.ts";

const FACTS = { url: "http://h/" };
const HOUR_MS = 3_600_000;
const NOON = "2024-05-15T12:00:00Z";
const { signal: forever } = new AbortController();
setMaxListeners(0, forever);
const down = new NetworkError("got no answer", FACTS);
const late = new TimeoutError("was not answered", FACTS);
const status = (code: number, retryAfterMs?: number) =>
  new HttpStatusError(`answered ${code}`, { ...FACTS, status: code, retryAfterMs });

/** A gate under a clock in hand. Requests are answered when and as the test says. */
function setUp({ retries = 5, clock = createHandClock(NOON), pace = {} as Partial<HostPace> } = {}) {
  const warnings: string[] = [];
  interface Sent {
    at: number;
    answer(error?: UpstreamError): Promise<void>;
  }
  const sent: Sent[] = [];
  const probes: Sent[] = [];
  const gate = createHostGate({
    whenLost: "",
    pace: { ...createHostPace({ ratePerSecond: 0, clock }), ...pace },
    retries,
    clock,
    probe: () => new Promise((resolve, reject) => note(probes, resolve, reject)),
    signal: forever,
    onWarning: (message) => void warnings.push(message),
    random: () => 1,
  });
  const startMs = clock.now().getTime();

  function note(list: Sent[], resolve: (reply: string) => void, reject: (reason: unknown) => void): void {
    list.push({
      at: (clock.now().getTime() - startMs) / 1000,
      answer(error) {
        if (error) reject(error);
        else resolve("answered");
        return settle();
      },
    });
  }

  /** One request, sent when the gate lets it; what it came to is its outcome. */
  function ask(signal?: AbortSignal) {
    const linked = linkSignals([signal, gate.lost]);
    const outcome = { is: undefined as unknown };
    const send = () =>
      new Promise<string>((resolve, reject) => {
        linked.signal.addEventListener("abort", () => reject(linked.signal.reason), { once: true });
        note(sent, resolve, reject);
      });
    const settle = (reply: unknown) => {
      outcome.is = reply;
    };
    gate.ask(send, 1, linked.signal).then(settle, settle);
    return outcome;
  }

  async function pass(error?: UpstreamError) {
    const outcome = ask();
    await settle();
    await sent.at(-1)?.answer(error);
    await clock.advance(0);
    return outcome.is;
  }
  const times = () => sent.map(({ at }) => at);
  return { clock, gate, warnings, sent, probes, ask, pass, times };
}

/** A gate behind which the host has answered once and then failed five times: its root is being asked. */
async function setUpInDoubt(error: UpstreamError = down, retries = 5) {
  const all = setUp({ retries });
  await all.pass();
  for (let failure = 0; failure < 5; failure++) await all.pass(error);
  all.sent.length = 0;
  return all;
}

describe("429 and 503", () => {
  it.each([429, 503])("hold all requests back: %i with Retry-After as long as it says", async (code) => {
    const { ask, pass, clock, times, warnings } = setUp();
    await pass(status(code, 7000));
    for (let request = 0; request < 3; request++) ask();
    await clock.advance(6999);
    expect(times()).toEqual([0]);
    await clock.advance(1);
    expect(times()).toEqual([0, 7, 7, 7]);
    expect(warnings).toEqual([`requests were held back for 7 s: the service answered ${code}`]);
  });

  it("without Retry-After hold them back as long as the next try waits; that is not told", async () => {
    const { ask, pass, clock, times, warnings } = setUp();
    await pass(status(429));
    ask();
    await clock.advance(2000);
    expect(times()).toEqual([0, 0.5]);
    expect(warnings).toEqual([]);
  });

  it("hold back who was waiting for its turn when they came", async () => {
    const turns: (() => void)[] = [];
    const pace = { turn: () => new Promise<void>((resolve) => turns.push(resolve)), slow() {}, ease() {} };
    const { ask, clock, sent, times } = setUp({ pace });
    ask();
    ask();
    await settle();
    turns[0]?.();
    await settle();
    await sent[0]?.answer(status(503, 10_000));
    turns[1]?.();
    await clock.advance(10_000);
    expect(times()).toEqual([0]);
    turns[2]?.();
    await settle();
    expect(times()).toEqual([0, 10]);
  });

  it("slow the pace once a round; every answer eases it", async () => {
    const told: string[] = [];
    const pace = { slow: () => void told.push("slow"), ease: () => void told.push("ease") };
    const { ask, pass, clock, sent } = setUp({ pace });
    for (let request = 0; request < 3; request++) ask();
    await settle();
    for (const { answer } of sent) await answer(status(429, 1000));
    await clock.advance(1000);
    await pass();
    await pass(status(404));
    await pass(down);
    await pass(status(503, 1000));
    expect(told).toEqual(["slow", "ease", "ease", "slow"]);
  });

  it.each([
    [MAX_RETRY_AFTER_MS + 1, "5 minutes; no request is sent before 2024-05-15T12:05:01Z"],
    [24 * HOUR_MS, "24 hours; no request is sent before 2024-05-15T13:00:00Z"],
    [Number.POSITIVE_INFINITY, "more than a year; no request is sent before 2024-05-15T13:00:00Z"],
  ])("with Retry-After of %d ms end it for everyone", async (retryAfterMs, words) => {
    const { ask, sent } = setUp();
    const [underWay, asker] = [ask(), ask()];
    await settle();
    await sent[1]?.answer(status(429, retryAfterMs));
    const later = ask();
    await settle();
    expect(asker.is).toBeInstanceOf(HttpStatusError);
    const message = `the service asks for a pause for ${words}: answered 429`;
    expect(asker.is).toMatchObject({ status: 429, message });
    expect([underWay.is, later.is]).toEqual([asker.is, asker.is]);
    expect(sent).toHaveLength(2);
  });
});

describe("a gate that shares its pace with those of other runs", () => {
  /** Two gates of one process, the second made when the first is done. */
  async function setUpTwo(error: UpstreamError) {
    const clock = createHandClock(NOON);
    const told: string[] = [];
    const pace = {
      ...createHostPace({ ratePerSecond: 0, clock }),
      slow: () => void told.push("slow"),
      ease: () => void told.push("ease"),
    };
    const first = setUp({ clock, pace });
    await first.pass(error);
    return { clock, told, first, next: () => setUp({ clock, pace }) };
  }

  it("waits for what is left of a hold that an earlier one met, and tells it", async () => {
    const { clock, next } = await setUpTwo(status(503, 60_000));
    await clock.advance(20_000);
    const second = next();
    second.ask();
    second.ask();
    await clock.advance(39_999);
    expect(second.times()).toEqual([]);
    await clock.advance(1);
    expect(second.times()).toEqual([40, 40]);
    expect(second.warnings).toEqual(["requests were held back for 40 s: the service answered 503"]);
  });

  it("fails at once, saying until when, while a hold lasts that is too long to wait for", async () => {
    const { clock, first, next } = await setUpTwo(status(429, HOUR_MS));
    await clock.advance(HOUR_MS / 2);
    const second = next();
    const asker = second.ask();
    await settle();
    expect(asker.is).toBeInstanceOf(HttpStatusError);
    const message =
      "the service asks for a pause for 60 minutes; no request is sent before 2024-05-15T13:00:00Z: answered 429";
    expect(asker.is).toMatchObject({ status: 429, message });
    expect(second.gate.lost.reason).toBe(asker.is);
    expect(asker.is).not.toBe(first.gate.lost.reason);
    expect(second.sent).toEqual([]);
    // One that comes near its end waits.
    await clock.advance(HOUR_MS / 2 - MAX_RETRY_AFTER_MS);
    const third = next();
    third.ask();
    await clock.advance(MAX_RETRY_AFTER_MS - 1);
    expect(third.sent).toEqual([]);
    await clock.advance(1);
    expect(third.sent).toHaveLength(1);
  });

  it("asks again after an hour where a pause of a year was asked for, which may ask for the next hour", async () => {
    const { clock, next } = await setUpTwo(status(429, 365 * 24 * HOUR_MS));
    for (let hour = 0; hour < 3; hour++) {
      await clock.advance(HOUR_MS - 1);
      await next().pass();
      const second = next();
      second.ask();
      await clock.advance(1);
      expect(second.times()).toEqual([0.001]);
      await second.sent[0]?.answer(status(503, Number.POSITIVE_INFINITY));
    }
  });

  it("heeds what another one is told meanwhile", async () => {
    const { clock, next } = await setUpTwo(down);
    const [one, other] = [next(), next()];
    one.ask();
    one.ask();
    await settle();
    await one.sent[0]?.answer(status(429, 30_000));
    const asker = other.ask();
    await clock.advance(10_000);
    await one.sent[1]?.answer(status(503, 24 * HOUR_MS));
    await clock.advance(HOUR_MS);
    expect(other.sent).toEqual([]);
    expect(asker.is).toMatchObject({ status: 503 });
  });

  it("slows and eases the pace of all, and pauses and counts failures for itself", async () => {
    const { clock, told, next } = await setUpTwo(status(429, 1000));
    await clock.advance(1000);
    await next().pass();
    expect(told).toEqual(["slow", "ease"]);
    const paused = next();
    await paused.pass();
    for (let failure = 0; failure < 5; failure++) await paused.pass(down);
    await paused.probes[0]?.answer(down);
    expect(paused.warnings).toHaveLength(1);
    const other = next();
    expect(await other.pass()).toBe("answered");
  });
});

describe("five failed rounds in a row", () => {
  it.each([
    ["no answer", down],
    ["time-outs", late],
    ["429", status(429, 0)],
    ["502", status(502)],
    ["503", status(503, 0)],
    ["504", status(504)],
    ["a fault of TLS", new LastingNetworkError("no certificate", FACTS)],
  ])("of %s, and a root that fails too: the host is left alone for 30 s, then for 60 s, and is lost", async (_, error) => {
    const { ask, clock, sent, probes, warnings } = await setUpInDoubt(error);
    const waiting = Array.from({ length: 4 }, () => ask());
    await clock.advance(0);
    await probes[0]?.answer(error);
    await clock.advance(29_999);
    expect(probes).toHaveLength(1);
    await clock.advance(1);
    expect(probes).toHaveLength(2);
    await probes[1]?.answer(error);
    await clock.advance(59_999);
    expect(probes).toHaveLength(2);
    await clock.advance(1);
    await probes[2]?.answer(error);
    const later = ask();
    await clock.advance(HOUR_MS);
    expect(probes.map(({ at }) => at)).toEqual([0, 30, 90]);
    expect(sent).toEqual([]);
    const reason = waiting[0]?.is as UpstreamError;
    expect(reason).toBeInstanceOf(error.constructor);
    expect(isUpstreamLost(reason)).toBe(true);
    expect(reason.message).toBe(
      `stopped asking the service after 8 failures in a row; the last one: ${error.message}`,
    );
    expect(waiting.map(({ is }) => is)).toEqual([reason, reason, reason, reason]);
    expect(later.is).toBe(reason);
    expect(warnings).toEqual([
      `paused all requests for 30 s after 6 failures in a row: ${error.message}`,
      `paused all requests for 60 s after 7 failures in a row: ${error.message}`,
    ]);
  });

  it.each([
    [0, [0]],
    [1, [0, 30]],
  ])("with %i retries lose the host after as many pauses", async (retries, asked) => {
    const { ask, clock, probes } = await setUpInDoubt(down, retries);
    const asker = ask();
    for (let probe = 0; probe < 3; probe++) {
      await probes[probe]?.answer(down);
      await clock.advance(60_000);
    }
    expect(probes.map(({ at }) => at)).toEqual(asked);
    expect(asker.is).toMatchObject({ message: expect.stringContaining("stopped asking the service after") });
  });

  it.each([
    ["is answered", undefined],
    ["is refused for good", status(404)],
    ["is broken", status(500)],
  ])("never lose a host whose root %s, however often one page fails", async (_, answer) => {
    const { pass, probes, gate, warnings } = setUp();
    await pass();
    for (let failure = 0; failure < 100; failure++) {
      await pass(status(504));
      await probes.at(-1)?.answer(answer);
    }
    expect(probes).toHaveLength(20);
    expect(gate.lost.aborted).toBe(false);
    expect(warnings).toEqual([]);
  });

  it("are one when all were under way together", async () => {
    const { ask, pass, sent, times } = setUp();
    await pass();
    for (let request = 0; request < 20; request++) ask();
    await settle();
    for (const { answer } of sent.slice(1)) await answer(down);
    await pass();
    expect(times()).toHaveLength(22);
  });

  it("are not in a row with any answer between, also a refusal of that one request", async () => {
    const { pass, warnings } = setUp();
    await pass();
    const strange = new UnexpectedShapeError("no JSON", FACTS);
    for (const answer of [undefined, status(404), status(500), strange]) {
      for (let failure = 0; failure < 4; failure++) await pass(down);
      await pass(answer);
    }
    expect(warnings).toEqual([]);
  });

  it("of a host that never answered are left to the retries", async () => {
    const { pass, times, warnings } = setUp();
    for (let failure = 0; failure < 20; failure++) expect(await pass(down)).toBe(down);
    expect(times()).toHaveLength(20);
    expect(warnings).toEqual([]);
  });
});

describe("the probe", () => {
  it("that is answered lets all others go, and the next pause is a short one again", async () => {
    const { ask, pass, clock, probes, times, warnings } = await setUpInDoubt();
    for (let request = 0; request < 3; request++) ask();
    await probes[0]?.answer(down);
    await clock.advance(30_000);
    await probes[1]?.answer(down);
    await clock.advance(60_000);
    await probes[2]?.answer();
    expect(times()).toEqual([90, 90, 90]);
    for (let failure = 0; failure < 5; failure++) await pass(down);
    await probes[3]?.answer(down);
    expect(warnings.at(-1)).toContain("paused all requests for 30 s after 6 failures");
  });

  it("is not needed any more when an earlier request is answered after all", async () => {
    const { ask, pass, clock, sent, probes, times } = setUp();
    await pass();
    const slow = ask();
    await settle();
    for (let failure = 0; failure < 5; failure++) await pass(down);
    await probes[0]?.answer(down);
    ask();
    ask();
    await clock.advance(10_000);
    await sent[1]?.answer();
    expect(slow.is).toBe("answered");
    expect(times().slice(-2)).toEqual([10, 10]);
    // The pause that was cut short does not come back when its time is over.
    await clock.advance(20_000);
    ask();
    ask();
    await settle();
    expect(times().slice(-2)).toEqual([30, 30]);
    expect(probes).toHaveLength(1);
  });
});

describe("whether the host is up", () => {
  it.each([
    ["answers", undefined, true],
    ["refuses for good", status(404), true],
    ["does not answer", down, false],
    ["is behind a proxy that lost it", status(502), false],
  ])("is asked of its root: one that %s", async (_, answer, expected) => {
    const { gate, probes } = setUp();
    const isUp = gate.isUp(forever);
    await settle();
    await probes[0]?.answer(answer);
    expect(await isUp).toBe(expected);
  });

  it("is known of a host that is lost", async () => {
    const { gate, pass, probes } = setUp();
    await pass(status(429, HOUR_MS));
    expect(await gate.isUp(forever)).toBe(false);
    expect(probes).toEqual([]);
  });
});

it("a request that waits at the gate can be stopped", async () => {
  const { ask, clock, times } = await setUpInDoubt();
  const stop = new AbortController();
  const waiting = ask(stop.signal);
  await clock.advance(10_000);
  stop.abort(new StoppedError("SIGTERM"));
  await settle();
  expect(waiting.is).toBe(stop.signal.reason);
  await clock.advance(HOUR_MS);
  expect(times()).toEqual([]);
});

it("a crowd that waits at the gate is no leak", async () => {
  using warned = vi.spyOn(process, "emitWarning");
  const { ask, pass, clock } = setUp();
  await pass(status(429, 7000));
  for (let request = 0; request < 12; request++) ask();
  await clock.advance(1);
  expect(warned).not.toHaveBeenCalled();
});

describe("whatever the host answers and whoever stops", () => {
  const refusal = fc
    .tuple(fc.constantFrom(429, 503), fc.integer({ min: 0, max: 40_000 }))
    .map(([code, waitMs]) => status(code, waitMs));
  const reply = fc.oneof<fc.MaybeWeightedArbitrary<UpstreamError | null>[]>(
    { weight: 40, arbitrary: fc.constant(null) },
    { weight: 80, arbitrary: fc.constantFrom(down, late, status(502), status(503), status(429)) },
    { weight: 20, arbitrary: fc.constantFrom(status(404), status(500)) },
    { weight: 30, arbitrary: refusal },
    { weight: 1, arbitrary: fc.constant(status(429, 24 * HOUR_MS)) },
  );
  const request = fc.record({
    startsAt: fc.integer({ min: 0, max: 20_000 }),
    takesMs: fc.integer({ min: 0, max: 3000 }),
    stopsAt: fc.option(fc.integer({ min: 0, max: 200_000 }), { freq: 3 }),
  });

  it("every request ends, none is sent while held back or left alone, and there is never a second probe", async () => {
    const seen = { probes: 0, lost: 0, held: 0 };
    const property = fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 12 }),
      // Troubles come in streaks.
      fc.array(fc.tuple(reply, fc.integer({ min: 1, max: 8 })), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0, max: 4 }),
      async (requests, streaks, retries) => {
        const replies = streaks.flatMap(([error, times]) => Array<UpstreamError | null>(times).fill(error));
        const clock = createHandClock("2024-05-15T12:00:00Z");
        const nowMs = () => clock.now().getTime();
        let sentCount = 0;
        let heldUntil = 0;
        let pausedUntil = 0;
        let probing = 0;
        /** With less than five the host is in no doubt, be it that a late answer came while the probe is still under way. */
        let failedInARow = 0;
        const gate = createHostGate({
          whenLost: "",
          pace: createHostPace({ ratePerSecond: 0, clock }),
          retries,
          clock,
          signal: forever,
          random: () => 1,
          async probe() {
            expect(nowMs()).toBeGreaterThanOrEqual(Math.max(heldUntil, pausedUntil));
            expect(++probing).toBe(1);
            seen.probes += 1;
            try {
              await answer(1, 100, forever);
            } finally {
              probing -= 1;
            }
          },
          onWarning(message) {
            const [, seconds] = /paused all requests for (\d+) s/.exec(message) ?? [];
            if (seconds) pausedUntil = nowMs() + Number(seconds) * 1000;
            else seen.held += 1;
          },
        });

        async function send(attempt: number, takesMs: number, signal: AbortSignal): Promise<void> {
          expect(gate.lost.aborted).toBe(false);
          expect(nowMs()).toBeGreaterThanOrEqual(Math.max(heldUntil, pausedUntil));
          expect(probing === 0 || failedInARow < 5).toBe(true);
          await answer(attempt, takesMs, signal);
        }

        async function answer(attempt: number, takesMs: number, signal: AbortSignal): Promise<void> {
          const error = replies[sentCount++ % replies.length] ?? null;
          await clock.sleep(takesMs, signal);
          if (error !== null && isUpstreamLost(error)) failedInARow += 1;
          else pausedUntil = failedInARow = 0;
          if (error === null) return;
          if (isRefusal(error))
            heldUntil = Math.max(heldUntil, nowMs() + retryWaitMs(error, attempt, () => 1));
          throw error;
        }

        const outcomes = requests.map(async ({ startsAt, takesMs, stopsAt }) => {
          const stop = new AbortController();
          if (stopsAt !== null) void clock.sleep(stopsAt).then(() => stop.abort(new StoppedError("SIGINT")));
          const { signal } = linkSignals([stop.signal, gate.lost]);
          await clock.sleep(startsAt);
          const oneTry = (attempt: number) => gate.ask(() => send(attempt, takesMs, signal), attempt, signal);
          await withRetries(oneTry, { retries, clock, signal, random: () => 1, onRetry() {} });
        });
        let left = outcomes.length;
        const failures: unknown[] = [];
        for (const outcome of outcomes) {
          outcome.catch((error: unknown) => void failures.push(error)).finally(() => void left--);
        }
        await clock.advance(24 * HOUR_MS);
        await settle();
        if (gate.lost.aborted) seen.lost += 1;
        const ours = (error: unknown) => isUpstreamLost(error) || error instanceof StoppedError;
        expect(failures.filter((error) => !ours(error) && !(error instanceof HttpStatusError))).toEqual([]);
        expect(left).toBe(0);
      },
    );
    await fc.assert(property, { numRuns: 150 });
    // The schedules really lead to all of it.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  });
});

import { describe, expect, test, vi } from "vitest";
import { LockedError, StoppedError, StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createPatience } from "../../../src/store/connection/patience.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const failure = (code: string) => Object.assign(new Error("it failed"), { code });

function setUp(options: { holds?: boolean; signal?: AbortSignal; regain?: () => Promise<void> } = {}) {
  const clock = createFakeClock({ holds: options.holds ?? false });
  const { signal = new AbortController().signal } = options;
  const regain = vi.fn(options.regain ?? (async () => {}));
  const renew = vi.fn();
  let tries = 0;
  const patience = createPatience({ clock, signal, log: silentLog, regain, renew });
  return {
    clock,
    run: (codes: readonly string[]) =>
      patience("store a page", async () => {
        const code = codes[tries++];
        if (code !== undefined) throw failure(code);
        return "done";
      }),
    patience,
    regained: () => regain.mock.calls.length,
    renewed: () => renew.mock.calls.length,
    tries: () => tries,
  };
}

describe("patience", () => {
  test("costs nothing where nothing fails", async () => {
    const { run, clock, regained } = setUp();
    expect(await run([])).toBe("done");
    expect({ sleeps: clock.sleeps, regained: regained() }).toEqual({ sleeps: [], regained: 0 });
  });

  test.each([
    ...["57P01", "57P03", "53300", "40P01", "55P03", "ECONNREFUSED", "CONNECTION_CLOSED"],
    ...["ERR_STREAM_WRITE_AFTER_END", "ENOTFOUND", "ENOENT"],
  ])("waits %s out, and makes sure of the run before each new try", async (code) => {
    const { run, clock, regained } = setUp();
    expect(await run([code, code])).toBe("done");
    expect(clock.sleeps).toHaveLength(2);
    expect(regained()).toBe(2);
  });

  test.each(["53100", "42501", "23505", "25006"])("does not try %s again", async (code) => {
    const { run, tries } = setUp();
    await expect(run([code])).rejects.toMatchObject({ name: "StoreError", sqlstate: code, exitCode: 4 });
    expect(tries()).toBe(1);
  });

  test("waits for a server that took writes and takes none any more, over new connections", async () => {
    const { run, renewed, tries } = setUp();
    await run([]);
    expect(await run(["", "25006", "57P03", "25006"])).toBe("done");
    expect({ renewed: renewed(), tries: tries() }).toEqual({ renewed: 2, tries: 5 });
  });

  test("leaves a bug as it is", async () => {
    const bug = new TypeError("x is undefined");
    await expect(setUp().patience("store a page", () => Promise.reject(bug))).rejects.toBe(bug);
  });

  test("waits longer from try to try, about a minute in all, then says what could not be done", async () => {
    const { run, clock } = setUp();
    const given = await run(Array.from({ length: 200 }, () => "57P03")).catch((error: unknown) => error);
    expect(given).toBeInstanceOf(StoreError);
    expect(String(given)).toContain("could not store a page");
    const longest = [250, 500, 1000, 2000, 4000];
    for (const [at, sleep] of clock.sleeps.entries()) {
      const most = longest[at] ?? 5000;
      expect(sleep).toBeGreaterThanOrEqual(most / 2);
      expect(sleep).toBeLessThanOrEqual(most);
    }
    const waited = clock.sleeps.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThanOrEqual(60_000);
    expect(waited).toBeLessThan(66_000);
  });

  test("ends its wait when the run is stopped", async () => {
    const stop = new AbortController();
    const { run, clock } = setUp({ holds: true, signal: stop.signal });
    const running = run(["57P03"]);
    await clock.slept(1);
    const reason = new StoppedError("SIGTERM");
    stop.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  test("makes its first try though the run is stopped, and no second one", async () => {
    const signal = AbortSignal.abort(new StoppedError("SIGTERM"));
    expect(await setUp({ signal }).run([])).toBe("done");
    await expect(setUp({ signal }).run(["57P03"])).rejects.toBeInstanceOf(StoppedError);
  });

  test("ends at once when another run has taken over", async () => {
    const taken = new LockedError("another run holds the lock");
    const { run, tries } = setUp({ regain: () => Promise.reject(taken) });
    await expect(run(["57P01", "57P01"])).rejects.toBe(taken);
    expect(tries()).toBe(1);
  });

  test("waits on while it cannot be made sure of the run", async () => {
    const refuse = () => Promise.reject(failure("ECONNREFUSED"));
    const regain = vi
      .fn(async () => {})
      .mockImplementationOnce(refuse)
      .mockImplementationOnce(refuse);
    const { run, tries, regained } = setUp({ regain });
    expect(await run(["57P01"])).toBe("done");
    expect({ asked: regained(), tries: tries() }).toEqual({ asked: 3, tries: 2 });
  });
});

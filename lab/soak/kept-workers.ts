/** Workers as a supervisor keeps them: each starts again when it ended. Their clocks can be put ahead, and each is looked at every second. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type RunningCli, startCli } from "../../test/support/cli.ts";

/** Puts the clock of a process ahead; the one that timers go by stays. `FAKETIME_LIBRARY`, else Debian's; null where there is none. */
export const FAKETIME =
  [
    process.env.FAKETIME_LIBRARY,
    ...["x86_64", "aarch64"].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`),
  ].find((path) => path !== undefined && existsSync(path)) ?? null;

const LOOK_EVERY_MS = 1000;
const START_AGAIN_MS = 1000;

export interface KeptWorker {
  readonly name: string;
  /** Undefined between two processes. */
  pid(): number | undefined;
  /** The address of its page, from its first moment. */
  page(): string | null;
  /** Stops it for a while. */
  freeze(ms: number): Promise<void>;
  /** Ends it, and returns when the next process is up. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** By how much its clock is ahead from now on. */
  setAhead(seconds: number): void;
  /** How it ended by itself, each time, and its last lines. */
  endedByItself(): readonly string[];
  /** The longest time without an answer and a line of its log, while it ran and was not frozen, in milliseconds. */
  longestSilence(): { ms: number; at: string };
  /** The most memory that one of its processes had resident, in MB. */
  peakMb(): number;
  /** Ends it for good, and returns its exit code. */
  close(): Promise<number | null>;
}

export interface KeptWorkerOptions {
  args: readonly string[];
  env: Record<string, string>;
  folder: string;
  print(line: string): void;
}

/** Starts it. Call it only where there is a FAKETIME. */
export function keepWorker(name: string, { args, env, folder, print }: KeptWorkerOptions): KeptWorker {
  const clockFile = join(folder, `${name}.clock`);
  const endings: string[] = [];
  const closing = new AbortController();
  let cli: RunningCli | null = null;
  let page: string | null = null;
  let isFrozen = false;
  let isAsked = false;
  let signAtMs = 0;
  let longest = { ms: 0, at: "" };
  let peakMb = 0;
  let lastCode: number | null = null;
  let up = untilCalled();
  setAhead(0);

  function setAhead(seconds: number): void {
    writeFileSync(`${clockFile}.new`, `${seconds < 0 ? "" : "+"}${seconds}\n`);
    renameSync(`${clockFile}.new`, clockFile);
  }

  /** A sign of life that comes now. */
  function note(): void {
    const nowMs = performance.now();
    const ms = nowMs - signAtMs;
    if (!isFrozen && ms > longest.ms) longest = { ms, at: new Date().toISOString().slice(11, 19) };
    signAtMs = nowMs;
  }

  async function keep(): Promise<void> {
    while (!closing.signal.aborted) {
      isAsked = false;
      signAtMs = performance.now();
      const own = startCli(["worker", "--http-port", "0", ...args], {
        env: {
          ...env,
          LD_PRELOAD: FAKETIME ?? "",
          FAKETIME_TIMESTAMP_FILE: clockFile,
          FAKETIME_NO_CACHE: "1",
          DONT_FAKE_MONOTONIC: "1",
          NO_FAKE_STAT: "1",
        },
      });
      cli = own;
      own.child.stderr?.on("data", note);
      void own.waitFor("stderr", /"url":"([^"]+)","msg":"the report page and the API are up"/).then(
        ([, url = ""]) => {
          page = url;
          up.call();
        },
        () => {},
      );
      const { code, signal, stderr } = await own.ended.catch((error: Error) => {
        // It has printed what no process may print.
        endings.push(`worker ${name}: ${error.message}`);
        return { code: null, signal: null, stderr: "" };
      });
      note();
      cli = null;
      page = null;
      lastCode = code;
      up = untilCalled();
      if (isAsked) continue;
      const when = stderr.includes("the worker is up") ? "" : " before it was up";
      const ending = `worker ${name} ended by itself with ${signal ?? code}${when}`;
      endings.push(`${ending}: ${stderr.slice(-600)}`);
      print(`  ${ending}`);
      await delay(START_AGAIN_MS);
    }
  }

  async function look(): Promise<void> {
    while (!closing.signal.aborted) {
      await delay(LOOK_EVERY_MS);
      const pid = cli?.child.pid;
      if (pid === undefined || isFrozen) continue;
      peakMb = Math.max(peakMb, readPeakMb(pid));
      if (page === null) continue;
      const answered = await fetch(`${page}/livez`, { signal: AbortSignal.timeout(60_000) }).then(
        (reply) => reply.text().then(() => reply.ok),
        () => false,
      );
      if (answered) note();
    }
  }

  const kept = keep();
  const looking = look();
  return {
    name,
    setAhead,
    pid: () => cli?.child.pid,
    page: () => (isFrozen ? null : page),
    endedByItself: () => endings,
    longestSilence: () => longest,
    peakMb: () => peakMb,
    async freeze(ms) {
      isFrozen = true;
      cli?.signal("SIGSTOP");
      await delay(ms);
      cli?.signal("SIGCONT");
      signAtMs = performance.now();
      isFrozen = false;
    },
    async end(signal) {
      isAsked = true;
      const running = cli;
      running?.signal(signal);
      await running?.ended;
      await up.called;
    },
    async close() {
      closing.abort();
      isAsked = true;
      cli?.signal("SIGTERM");
      await kept;
      await looking;
      return lastCode;
    },
  };
}

/** The most that was ever resident, which Linux alone says. */
function readPeakMb(pid: number): number {
  try {
    const [, kb = "0"] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kb) / 1000;
  } catch {
    return 0;
  }
}

function untilCalled(): { called: Promise<void>; call(): void } {
  let call = () => {};
  const called = new Promise<void>((resolve) => {
    call = resolve;
  });
  return { called, call: () => call() };
}

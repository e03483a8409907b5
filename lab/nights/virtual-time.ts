/**
 * Loaded before the program (`node --import`), so that a real process lives in virtual time: its clock runs NIGHTS_SPEED times as fast from NIGHTS_FROM on,
 * and its waits and cron lines with it. Time limits of sockets and of Postgres stay real, and so does the clock of Postgres.
 */
import { systemClock } from "../../src/base/clock.ts";

const speed = Number(process.env.NIGHTS_SPEED);
const from = Number(process.env.NIGHTS_FROM);
const origin = Number(process.env.NIGHTS_ORIGIN);
if (!(speed > 0) || !Number.isFinite(from) || !Number.isFinite(origin))
  throw new Error("NIGHTS_SPEED, NIGHTS_FROM and NIGHTS_ORIGIN must be numbers");
/** Shorter waits would be busy loops. */
const LEAST_WAIT_MS = 50;

const RealDate = Date;
const virtualNow = () => from + (RealDate.now() - origin) * speed;
const realWait = (ms: number) => Math.max(ms / speed, Math.min(ms, LEAST_WAIT_MS));

globalThis.Date = class extends RealDate {
  constructor(...parts: [] | [number | string | Date]) {
    super(...((parts.length === 0 ? [virtualNow()] : parts) as [number]));
  }
  static override now = virtualNow;
} as DateConstructor;

const { sleep } = systemClock;
systemClock.sleep = (ms, signal) => sleep(realWait(ms), signal);

// node-cron waits with the global timer until a line is due.
const realTimeout = globalThis.setTimeout;
globalThis.setTimeout = ((run: () => void, ms = 0, ...rest: []) => {
  const isCron = new Error().stack?.includes("node-cron") === true;
  return realTimeout(run, isCron ? realWait(ms) : ms, ...rest);
}) as typeof setTimeout;

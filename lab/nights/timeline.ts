/** Virtual time: a month before now runs up to now, many times as fast. */
import { setTimeout as delay } from "node:timers/promises";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export interface Timeline {
  /** The moment at which it began, at midnight UTC. */
  readonly fromMs: number;
  readonly speed: number;
  /** What processes need to live in it (`virtual-time.ts`). */
  readonly env: Record<string, string>;
  now(): number;
  /** The moment of an hour of a day, both counted from 0; hours may be fractions. */
  at(day: number, hour: number): number;
  /** Waits for a moment. Returns at once when it has passed. */
  until(atMs: number): Promise<void>;
}

/** The month ends before today, since Postgres, which lives in real time, takes later dates for wrong ones. */
export function startTimeline(days: number, speed: number): Timeline {
  const origin = Date.now();
  const fromMs = Math.floor((origin - (days + 1) * DAY_MS) / DAY_MS) * DAY_MS;
  const now = () => fromMs + (Date.now() - origin) * speed;
  return {
    fromMs,
    speed,
    env: { NIGHTS_FROM: String(fromMs), NIGHTS_ORIGIN: String(origin), NIGHTS_SPEED: String(speed) },
    now,
    at: (day, hour) => fromMs + day * DAY_MS + hour * HOUR_MS,
    until: (atMs) => delay(Math.max(0, (atMs - now()) / speed)),
  };
}

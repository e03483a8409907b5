import type { Bound } from "../parts/charts/bound-bar.ts";

/** A length of time between two bounds in words: `1 to 3 min`, `at most 2 h`. */
export function durationWords({ least, most }: Bound): string {
  if (least < 1) return `at most ${lengthOf(most)}`;
  const [from, to] = [lengthOf(least), lengthOf(most)];
  return from === to ? from : `${from} to ${to}`;
}

/** A length of time in its two largest units: `2 h 49 min`. The smaller one is left out where it says little. */
export function lengthOf(seconds: number): string {
  const [minutes, hours, days] = [Math.round(seconds / 60), Math.round(seconds / 3600), seconds / 86_400];
  if (seconds < 59.5) return `${Math.round(seconds)}\u00a0s`;
  if (minutes < 10) return two(Math.floor(Math.round(seconds) / 60), "min", Math.round(seconds) % 60, "s");
  if (minutes < 60) return `${minutes}\u00a0min`;
  if (minutes < 600) return two(Math.floor(minutes / 60), "h", minutes % 60, "min");
  if (hours < 48) return `${hours}\u00a0h`;
  return `${days < 10 ? days.toFixed(1) : Math.round(days)}\u00a0d`;
}

const two = (large: number, unit: string, small: number, smallUnit: string): string =>
  `${large}\u00a0${unit}${small === 0 ? "" : ` ${small}\u00a0${smallUnit}`}`;

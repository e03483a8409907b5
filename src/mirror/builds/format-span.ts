/** The shortest and the longest possible length of a time. `most_ms` is null when it is unknown. */
export interface BoundedSpan {
  least_ms: number;
  most_ms: number | null;
}

/** A length of time in its two largest units, such as `2 h 5 min`, as the pages spell it. Below a minute in tenths of a second, and never none of them. */
export function formatSpan(ms: number): string {
  if (ms < 50) return "< 0.1 s";
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3600) % 24;
  const days = Math.floor(seconds / 86_400);
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

export function formatBetween({ least_ms, most_ms }: BoundedSpan): string {
  if (most_ms === null) return least_ms === 0 ? "unknown" : `${formatSpan(least_ms)} or longer`;
  if (least_ms === 0) return `up to ${formatSpan(most_ms)}`;
  return `${formatSpan(least_ms)} to ${formatSpan(most_ms)}`;
}

/** A UTC time as Postgres prints it, without the zone. */
export function formatTime(text: string): string {
  return text.replace(/\+00$/, "");
}

/** A zone-less timestamp as upstream sends it: the canonical form has six digits of fraction, or none when it is zero. */
const LOCAL_TIME = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?$/;

export interface LocalTime {
  /** `YYYY-MM-DDTHH:MM:SS[.ffffff]`, as a Python server prints it. */
  text: string;
  /** Microseconds since 1970-01-01T00:00:00 of the same unnamed zone. */
  microseconds: bigint;
}

/** Reads a timestamp without a zone; null for anything else, among them dates that no calendar has. */
export function parseLocalTime(value: string): LocalTime | null {
  const match = LOCAL_TIME.exec(value);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (year < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const micros = Number((match[7] ?? "").padEnd(6, "0"));
  const fraction = micros === 0 ? "" : `.${String(micros).padStart(6, "0")}`;
  return {
    text: `${value.slice(0, 10)}T${value.slice(11, 19)}${fraction}`,
    microseconds: BigInt(date.getTime()) * 1000n + BigInt(micros),
  };
}

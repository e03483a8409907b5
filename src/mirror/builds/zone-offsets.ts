/**
 * The zones that a service is likely to use, the likeliest first: most servers run in UTC, and the original
 * hosted service ran in Chicago. When many zones fit equally well, the first of these is named.
 */
const LIKELY_ZONES = [
  "Etc/UTC",
  "America/Chicago",
  "America/New_York",
  "America/Los_Angeles",
  "America/Denver",
  "America/Phoenix",
  "America/Sao_Paulo",
  "Europe/London",
  "Europe/Berlin",
  "Europe/Helsinki",
  "Europe/Moscow",
  "Asia/Dubai",
  "Asia/Kolkata",
  "Asia/Shanghai",
  "Asia/Tokyo",
  "Asia/Seoul",
  "Australia/Sydney",
  "Pacific/Auckland",
] as const;

/** Every zone that a service may use, the likeliest first. */
export function listZones(): string[] {
  // The signs are reversed: Etc/GMT+6 is six hours behind UTC.
  const fixed = Array.from({ length: 27 }, (_, index) => index - 14).filter((hours) => hours !== 0);
  const names = fixed.map((hours) => `Etc/GMT${hours > 0 ? "+" : ""}${hours}`);
  return [...new Set([...LIKELY_ZONES, ...Intl.supportedValuesOf("timeZone"), ...names])];
}

/**
 * How far a zone's clocks are ahead of UTC at a moment, in minutes. Throws a RangeError for an unknown zone.
 */
export function createZoneOffset(timeZone: string): (moment: Date) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  return (moment) => {
    const name = format.formatToParts(moment).find(({ type }) => type === "timeZoneName")?.value ?? "";
    // `GMT-05:00`, or only `GMT` without an offset.
    const [, sign, hours = "0", minutes = "0"] = /([+-])(\d+):(\d+)/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) + 0;
  };
}

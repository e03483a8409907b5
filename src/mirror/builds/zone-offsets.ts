/** The likely zones, the likeliest first: most servers run in UTC, the original service in Chicago. */
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

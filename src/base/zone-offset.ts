/** How far a zone's clocks are ahead of UTC at a moment, in minutes. Throws a RangeError for an unknown zone. */
export function createZoneOffset(timeZone: string): (moment: Date) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  return (moment) => {
    const name = format.formatToParts(moment).find(({ type }) => type === "timeZoneName")?.value ?? "";
    // `GMT-05:00`, or only `GMT` without an offset.
    const [, sign, hours = "0", minutes = "0"] = /([+-])(\d+):(\d+)/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) + 0;
  };
}

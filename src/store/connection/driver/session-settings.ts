/**
 * Settings that the texts we read and write depend on, whatever the server, the database, the role or the URL
 * say. Times are sent in the zone and style of the session. The quoting of texts and the format of arrays and
 * numbers depend on settings too.
 */
const OURS = {
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  standard_conforming_strings: "on",
  array_nulls: "on",
  extra_float_digits: "1",
};

/**
 * The statement that makes the settings of a session: ours, which always hold, and `wanted`. A later setting
 * of the same name wins. Values are read as at the start of a session, lists included. The statement fails
 * for a setting that the server does not know.
 */
export function sessionStatement(...wanted: Record<string, string>[]): string {
  const settings = new Map<string, string>();
  for (const [name, value] of [...wanted, OURS].flatMap(Object.entries<string>)) {
    settings.set(name.toLowerCase(), value);
  }
  const calls = [...settings].map(
    ([name, value]) => `pg_catalog.set_config(${quote(name)}, ${quote(value)}, false)`,
  );
  return `select ${calls.join(", ")}`;
}

/** Right for each value of `standard_conforming_strings`, which is not set yet. */
function quote(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

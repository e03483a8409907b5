/**
 * What the texts that we read and write rest on, whatever the server, the database, the role or the URL says. Times are sent in the
 * session's zone and style; a text is quoted, an array read and a number printed by settings too.
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
 * The statement that gives a session its settings: those of ours that must hold, and `wanted`, of which a later one of the same name wins.
 * It takes the values as a server takes them when a session starts, lists included. Throws nothing; a setting that the server
 * does not know fails the statement.
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

/** Right whatever `standard_conforming_strings` is, which is only about to be set. */
function quote(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

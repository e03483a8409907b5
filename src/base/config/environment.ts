import { dirname, resolve } from "node:path";
import type { Environment } from "../config.ts";

/**
 * Says whether a stream is coloured. `--no-color` and `NO_COLOR` (not empty) say no. Else `FORCE_COLOR` decides (0
 * and false say no). Else a terminal that is not `TERM=dumb` has colours.
 */
export function wantsColour(
  stream: { isTty: boolean; noColorFlag?: boolean },
  env: Environment = process.env,
): boolean {
  if (stream.noColorFlag || (env.NO_COLOR ?? "") !== "") return false;
  const force = env.FORCE_COLOR ?? "";
  if (force !== "") return force !== "0" && force !== "false";
  return stream.isTty && env.TERM !== "dumb";
}

/** True where lines can be redrawn, as progress bars need. Not in CI, whose logs keep every frame. */
export function canRedraw(stream: { isTty: boolean }, env: Environment = process.env): boolean {
  return stream.isTty && env.TERM !== "dumb" && (env.CI ?? "") === "";
}

export type Watchdog = NonNullable<ReturnType<typeof findWatchdog>>;

/**
 * The demands of systemd on this process with `WatchdogSec`: the time without a message after which it ends the process, and the
 * environment of the program that sends the messages. Null where nobody waits for messages: see sd_watchdog_enabled(3).
 */
export function findWatchdog(env: Environment = process.env, pid = process.pid) {
  const { NOTIFY_SOCKET = "", WATCHDOG_USEC = "", WATCHDOG_PID = String(pid), PATH = "" } = env;
  const withinMs = Number(WATCHDOG_USEC) / 1000;
  if (NOTIFY_SOCKET === "" || !(withinMs > 0) || WATCHDOG_PID !== String(pid)) return null;
  return { withinMs, env: { NOTIFY_SOCKET, PATH } };
}

/**
 * True where systemd gave this process its database password (`LoadCredential`). That is a copy of the moment of its start: a
 * rotated password comes with the next start alone.
 */
export function isPasswordCopied(env: Environment = process.env): boolean {
  const { CREDENTIALS_DIRECTORY = "", DOCMIRROR_DATABASE_PASSWORD_FILE = "", DATABASE_URL_FILE = "" } = env;
  const files = [DOCMIRROR_DATABASE_PASSWORD_FILE, DATABASE_URL_FILE].filter((file) => file !== "");
  return (
    CREDENTIALS_DIRECTORY !== "" && files.some((file) => dirname(file) === resolve(CREDENTIALS_DIRECTORY))
  );
}

/** The variables of libpq that count for `DATABASE_URL`, by the parameters whose defaults they are. */
const LIBPQ = {
  user: "PGUSER",
  password: "PGPASSWORD",
  dbname: "PGDATABASE",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  target_session_attrs: "PGTARGETSESSIONATTRS",
} as const;

/** The parameters of libpq that the environment gives a default. */
export function findLibpqDefaults(env: Environment = process.env): [name: string, value: string][] {
  return Object.entries(LIBPQ).flatMap(([name, variable]) => {
    const value = env[variable] ?? "";
    return value === "" ? [] : [[name, value] satisfies [string, string]];
  });
}

/**
 * Runs `open`, which may not wait, without the variables that begin with PG. The driver takes each option that it is not given
 * from there, and other programs have theirs there too: `PGSSL=true` would make it speak TLS where we do, and fail.
 */
export function withoutDriverVariables<T>(open: () => T): T {
  const hidden = Object.entries(process.env).filter(([name]) => name.startsWith("PG"));
  for (const [name] of hidden) delete process.env[name];
  try {
    return open();
  } finally {
    Object.assign(process.env, Object.fromEntries(hidden));
  }
}

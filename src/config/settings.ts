/**
 * Every setting, declared once. The flags, `.env.example`, `docmirror config`, the help and
 * the check for unknown names all come from here. This file imports nothing so that `--help` stays fast.
 */
export interface Setting {
  /** The name in the environment and in `.env`. `NAME_FILE` names a file that holds the value. */
  readonly name: string;
  /** The flag without its two dashes. */
  readonly flag: string;
  /** How the help writes the value. */
  readonly value: string;
  /** As it would be written in the environment; null when there is none. */
  readonly default: string | null;
  /** What takes the default's place in the help where `default` is null. */
  readonly without?: string;
  readonly meaning: string;
}

export const SETTINGS = {
  databaseUrl: {
    name: "DATABASE_URL",
    flag: "database-url",
    value: "url",
    default: null,
    without: "the embedded Postgres",
    meaning: "where the mirror lives: postgres://user:password@host:port/database",
  },
  dataDir: {
    name: "DOCMIRROR_DATA_DIR",
    flag: "data-dir",
    value: "path",
    default: ".docmirror",
    meaning: "the embedded Postgres' data, relative to the working directory",
  },
  baseUrl: {
    name: "DOCMIRROR_BASE_URL",
    flag: "base-url",
    value: "url",
    default: null,
    without: "none, required by what talks to upstream",
    meaning: "the service to mirror: what stands before /api/v1/, with its path prefix if it has one",
  },
  pageSize: {
    name: "DOCMIRROR_PAGE_SIZE",
    flag: "page-size",
    value: "records",
    default: "100",
    meaning: "records asked for at once, 1 to 1000; the server may give fewer",
  },
  rate: {
    name: "DOCMIRROR_RATE",
    flag: "rate",
    value: "number",
    default: "5",
    meaning: "requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit",
  },
  concurrency: {
    name: "DOCMIRROR_CONCURRENCY",
    flag: "concurrency",
    value: "requests",
    default: "4",
    meaning: "requests in flight at once, 1 to 64",
  },
  timeoutMs: {
    name: "DOCMIRROR_TIMEOUT_MS",
    flag: "timeout-ms",
    value: "ms",
    default: "30000",
    meaning: "time for one request, headers and body, in milliseconds",
  },
  retries: {
    name: "DOCMIRROR_RETRIES",
    flag: "retries",
    value: "tries",
    default: "5",
    meaning: "tries after the first, 0 to 100; Retry-After is obeyed",
  },
  maxBodyMb: {
    name: "DOCMIRROR_MAX_BODY_MB",
    flag: "max-body-mb",
    value: "MB",
    default: "64",
    meaning: "a longer reply is an error, 1 to 511 megabytes",
  },
  syncCron: {
    name: "DOCMIRROR_SYNC_CRON",
    flag: "sync-cron",
    value: "cron",
    default: "17 2 * * *",
    meaning: "when the worker syncs",
  },
  fullEveryDays: {
    name: "DOCMIRROR_FULL_EVERY_DAYS",
    flag: "full-every-days",
    value: "days",
    default: "auto",
    meaning:
      "how often the nightly sync walks builds in full; auto is every night where a full walk of all lists takes at most 30 minutes at this rate, else every 7",
  },
  watchCron: {
    name: "DOCMIRROR_WATCH_CRON",
    flag: "watch-cron",
    value: "cron",
    default: "* * * * *",
    meaning: "when watch and worker look at builds that have not finished",
  },
  timezone: {
    name: "DOCMIRROR_TIMEZONE",
    flag: "timezone",
    value: "zone",
    default: "Etc/UTC",
    meaning: "the schedule's time zone, an IANA name",
  },
  sourceTimezone: {
    name: "DOCMIRROR_SOURCE_TIMEZONE",
    flag: "source-timezone",
    value: "zone",
    default: "Etc/UTC",
    meaning:
      "how upstream's zone-less timestamps are read, an IANA name (America/Chicago for old hosted data)",
  },
  stuckAfter: {
    name: "DOCMIRROR_STUCK_AFTER",
    flag: "stuck-after",
    value: "duration",
    default: "2h",
    meaning: "an open build older than this is stuck; units ms s m h d w, as in 1h30m",
  },
  maxDeleteRatio: {
    name: "DOCMIRROR_MAX_DELETE_RATIO",
    flag: "max-delete-ratio",
    value: "ratio",
    default: "0.05",
    meaning: "a walk that misses more of the known records than this deletes nothing, 0 to 1",
  },
  httpHost: {
    name: "DOCMIRROR_HTTP_HOST",
    flag: "http-host",
    value: "host",
    default: "127.0.0.1",
    meaning: "where worker and serve listen",
  },
  httpPort: {
    name: "DOCMIRROR_HTTP_PORT",
    flag: "http-port",
    value: "port",
    default: "8321",
    meaning: "the port of worker and serve; 0 takes a free one",
  },
  logLevel: {
    name: "DOCMIRROR_LOG_LEVEL",
    flag: "log-level",
    value: "level",
    default: "info",
    meaning: "fatal, error, warn, info, debug, trace or silent",
  },
  logFormat: {
    name: "DOCMIRROR_LOG_FORMAT",
    flag: "log-format",
    value: "format",
    default: "auto",
    meaning: "pretty, json, or auto: pretty on a terminal, else JSON",
  },
} as const satisfies Record<string, Setting>;

export type SettingKey = keyof typeof SETTINGS;

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

import { FINAL_STATES } from "../../resources/build-states.ts";
import { cron } from "./cron-line.ts";
import { SERVICE_SETTINGS } from "./service-settings.ts";
import type { Setting, SettingUse, ValuesOf } from "./setting.ts";
import * as values from "./setting.ts";
import { UPKEEP_SETTINGS } from "./upkeep-settings.ts";

const HIDDEN = () => "***";
const NONE = { default: null, without: "none" } as const;
/** Null is the value of each setting that is not set and has no default: `without` says what then holds. */
export const SETTINGS = {
  databaseUrl: {
    name: "DATABASE_URL",
    uses: ["database", "status"],
    value: "url",
    default: null,
    without: "the embedded Postgres",
    parse: values.databaseUrl,
    isHidden: () => true,
    meaning: "where the mirror is: postgres://user:password@host:port/database",
  },
  /** Put into `databaseUrl` and `readUrl` where they name no password. */
  databasePassword: {
    name: "DOCMIRROR_DATABASE_PASSWORD",
    uses: ["database"],
    value: "password",
    default: null,
    without: "the one in the URL",
    parse: values.secretText,
    keepsBlanks: true,
    isHidden: () => true,
    show: HIDDEN,
    meaning:
      "the password for DATABASE_URL and DOCMIRROR_READ_URL where they name none, as it is, in any characters; newlines at its end are cut",
  },
  readUrl: {
    name: "DOCMIRROR_READ_URL",
    uses: [],
    value: "url",
    default: null,
    without: "the database that the syncs write to",
    parse: values.databaseUrl,
    isHidden: () => true,
    meaning:
      "where report, export and serve read, such as a streaming replica: postgres://user:password@host:port/database",
  },
  /** Absolute. Need not exist yet. */
  dataDir: {
    name: "DOCMIRROR_DATA_DIR",
    uses: ["database", "status"],
    value: "folder",
    default: ".docmirror",
    parse: values.path,
    meaning: "the embedded Postgres' data, relative to the working directory",
  },
  databaseLimitBytes: {
    ...NONE,
    name: "DOCMIRROR_DATABASE_LIMIT",
    uses: ["status"],
    value: "gigabytes",
    without: "for the embedded Postgres what its disk has, else none",
    parse: values.gigabytes(0.001, 1_000_000),
    meaning:
      "how large the database may become, in gigabytes of 10^9 bytes, such as what its host sells; status, doctor and an alert say when it is full",
  },
  ...SERVICE_SETTINGS,
  syncCron: {
    name: "DOCMIRROR_SYNC_CRON",
    uses: ["status"],
    value: "cron",
    default: "17 2 * * *",
    parse: cron,
    meaning: "when the worker syncs",
  },
  fullEveryDays: {
    name: "DOCMIRROR_FULL_EVERY_DAYS",
    uses: ["sync"],
    value: "days",
    default: "auto",
    parse: values.wordOr("auto", values.whole(1, 3650)),
    meaning:
      "the nights in which all builds are read again, an even share in each; " +
      "auto is 1 where a full walk of all lists takes at most 30 minutes at this rate, else 7",
  },
  watchCron: {
    name: "DOCMIRROR_WATCH_CRON",
    uses: ["status"],
    value: "cron",
    default: "* * * * *",
    parse: cron,
    meaning: "when watch and worker poll open builds and read new ones",
  },
  timezone: {
    name: "DOCMIRROR_TIMEZONE",
    uses: ["status"],
    value: "zone",
    default: "Etc/UTC",
    parse: values.zone,
    meaning: "the schedule's time zone, an IANA name",
  },
  sourceTimezone: {
    name: "DOCMIRROR_SOURCE_TIMEZONE",
    uses: ["sync", "watch", "reports", "status"],
    value: "zone",
    default: "Etc/UTC",
    parse: values.zone,
    meaning:
      "the time zone of upstream's timestamps, which do not name it; an IANA name (America/Chicago for old hosted data)",
  },
  stuckAfterMs: {
    name: "DOCMIRROR_STUCK_AFTER",
    uses: ["sync", "watch", "reports", "status"],
    value: "duration",
    default: "2h",
    parse: values.duration,
    meaning:
      "a build that was open for longer than this when it was last seen is stuck; units ms s m h d w, as in 1h30m",
  },
  finalStates: {
    name: "DOCMIRROR_FINAL_STATES",
    uses: ["sync", "watch"],
    value: "words",
    default: null,
    without: "the known ones",
    parse: values.finalStates,
    meaning:
      "more states in which builds end, neither as a success nor as a failure, such as expired,superseded; " +
      `known are ${FINAL_STATES.join(", ")} (docs/builds.md)`,
  },
  staleAfterMs: {
    name: "DOCMIRROR_STALE_AFTER",
    uses: ["status", "notices"],
    value: "duration",
    default: "30h",
    parse: values.duration,
    meaning: "a list that was not read well for this long is stale; units ms s m h d w, as in 1d6h",
  },
  maxDeleteRatio: {
    name: "DOCMIRROR_MAX_DELETE_RATIO",
    uses: ["sync"],
    value: "ratio",
    default: "0.05",
    parse: values.decimal(0, 1),
    meaning:
      "the share of the known records, 0 to 1, that a walk may miss; when it misses more, nothing is marked deleted",
  },
  deleteHeldAfterMs: {
    name: "DOCMIRROR_DELETE_HELD_AFTER",
    uses: ["sync"],
    value: "duration",
    default: "3d",
    parse: values.wordOr("never", values.duration),
    meaning:
      "how long whole walks must miss what that ratio holds back before it is deleted, where each detail answers 404; " +
      "more than half of a list always waits for a person; units ms s m h d w, or never",
  },
  replicaLagMs: {
    name: "DOCMIRROR_REPLICA_LAG",
    uses: ["sync", "watch"],
    value: "duration",
    default: "10m",
    parse: values.durationUpTo(7 * 86_400_000),
    meaning:
      "how far a replica of the service may be behind; nothing is marked deleted within this time of " +
      "its last sighting; units ms s m h d w, at most 1w, 0s is none",
  },
  ignoredFields: {
    name: "DOCMIRROR_IGNORED_FIELDS",
    uses: ["requests"],
    value: "fields",
    default: null,
    without: "none",
    parse: values.fields,
    meaning:
      "fields that make no record another one, such as build.output_url,user.token, because they differ in each reply; " +
      "their values are kept as they came with a change of another field, and are in no history",
  },
  leaveOut: {
    name: "DOCMIRROR_LEAVE_OUT",
    uses: ["sync"],
    value: "resources",
    default: null,
    without: "none",
    parse: values.resources,
    meaning:
      "resources that a sync leaves out, such as build,file; their rows are kept. One that the root listing lacked for a week is left out by itself",
  },
  verifySample: {
    name: "DOCMIRROR_VERIFY_SAMPLE",
    uses: ["sync"],
    value: "records",
    default: "20",
    parse: values.whole(0, 10_000),
    meaning:
      "random records that a sync compares with the service after a good end, one request each, as `docmirror verify` does; 0 is none",
  },
  content: {
    name: "DOCMIRROR_CONTENT",
    uses: ["sync"],
    value: "on|off",
    bare: "on",
    default: "off",
    parse: values.onOff,
    meaning: "on: a sync also fetches the pages of the files, for the searches (docs/content.md)",
  },
  /** Like `baseUrl`. */
  docsUrl: {
    name: "DOCMIRROR_DOCS_URL",
    uses: ["sync"],
    value: "url",
    default: null,
    without: "the base URL",
    parse: values.webUrl,
    isHidden: (text) => text.includes("@"),
    meaning: "where the pages of the files are, when they are on another host than the API",
  },
  contentBudgetMs: {
    name: "DOCMIRROR_CONTENT_BUDGET",
    uses: ["sync"],
    value: "minutes",
    default: "30",
    parse: values.minutes(0, 1440),
    meaning: "how long one sync may fetch pages, after its lists, in minutes; the next one continues",
  },
  httpHost: {
    name: "DOCMIRROR_HTTP_HOST",
    uses: ["server"],
    value: "host",
    default: "127.0.0.1",
    parse: values.host,
    meaning: "the address that worker and serve listen on",
  },
  httpPort: {
    name: "DOCMIRROR_HTTP_PORT",
    uses: ["server"],
    value: "port",
    default: "8321",
    parse: values.whole(0, 65_535),
    meaning: "the port of worker and serve; 0 takes a free one",
  },
  /** In lower case, without ports. */
  httpAllowedHosts: {
    name: "DOCMIRROR_HTTP_ALLOWED_HOSTS",
    uses: ["server"],
    value: "names",
    default: null,
    without: "only addresses, localhost and DOCMIRROR_HTTP_HOST",
    parse: values.hostNames,
    meaning:
      "further host names under which worker and serve answer, separated by commas, such as mirror.example.org; requests for another name get 421",
  },
  httpRate: {
    name: "DOCMIRROR_HTTP_RATE",
    uses: ["server"],
    value: "number",
    default: "auto",
    parse: values.wordOr("auto", values.decimal(0, 100_000)),
    meaning:
      "requests a second that worker and serve answer to each client; 0 is no limit, auto is 0 on a loopback address and 100 on any other",
  },
  httpCors: {
    name: "DOCMIRROR_HTTP_CORS",
    uses: ["server"],
    value: "origins",
    default: null,
    without: "none",
    parse: values.origins,
    meaning:
      "the origins whose web pages may read the interface in a browser, separated by commas, such as https://docs.example.org; * is any",
  },
  ...UPKEEP_SETTINGS,
  /** Its path and its query may be secret: print its origin alone. */
  webhookUrl: {
    name: "DOCMIRROR_WEBHOOK_URL",
    uses: ["notices"],
    value: "url",
    default: null,
    without: "none",
    parse: values.webhookUrl,
    isHidden: () => true,
    show: (text) => (URL.canParse(text) ? `${new URL(text).origin}/***` : "***"),
    meaning: "gets a POST when something needs attention (docs/notices.md)",
  },
  webhookSecret: {
    name: "DOCMIRROR_WEBHOOK_SECRET",
    uses: ["notices"],
    value: "secret",
    default: null,
    without: "none, required with DOCMIRROR_WEBHOOK_URL in the standard format",
    parse: values.webhookSecret,
    isHidden: () => true,
    show: HIDDEN,
    meaning: "signs what DOCMIRROR_WEBHOOK_URL gets: whsec_ and 24 to 64 bytes in base64",
  },
  webhookFormat: {
    name: "DOCMIRROR_WEBHOOK_FORMAT",
    uses: ["notices"],
    value: "format",
    default: "standard",
    parse: values.oneOf("standard", "slack", "teams"),
    meaning:
      "how notices are written: standard (signed), or as an incoming webhook of slack or a workflow of teams takes them",
  },
  noticeTypes: {
    name: "DOCMIRROR_NOTICE_TYPES",
    uses: ["notices"],
    value: "types",
    default: null,
    without: "all",
    parse: values.noticeTypes,
    meaning: "the types of notices that are sent, separated by commas, such as run.ended,builds.quiet",
  },
  noticeProjects: {
    name: "DOCMIRROR_NOTICE_PROJECTS",
    uses: ["notices"],
    value: "slugs",
    default: null,
    without: "all",
    parse: values.projectPatterns,
    meaning:
      "the projects of which breaks and fixes are sent: slugs separated by commas, * for any letters, such as docs-*,pip",
  },
  logLevel: {
    name: "DOCMIRROR_LOG_LEVEL",
    uses: ["log"],
    value: "level",
    default: "info",
    parse: values.oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    meaning: "fatal, error, warn, info, debug, trace or silent",
  },
  logFormat: {
    name: "DOCMIRROR_LOG_FORMAT",
    uses: ["log"],
    value: "format",
    default: "auto",
    parse: values.logFormat,
    meaning: "pretty, json, or auto: pretty on a terminal, else JSON",
  },
} as const satisfies Record<string, Setting>;

export type SettingKey = keyof typeof SETTINGS;

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** The value of each setting, in the type that its parser gives. */
export type SettingValues = ValuesOf<typeof SETTINGS>;

type KeysFor<Use extends SettingUse> = {
  [Key in SettingKey]: Extract<(typeof SETTINGS)[Key]["uses"][number], Use> extends never ? never : Key;
}[SettingKey];

/** The values of the settings that are read for one of these uses. */
export type SettingsFor<Use extends SettingUse> = Pick<SettingValues, KeysFor<Use>>;

/** The settings of these uses and names, each once, in the order of their declaration. */
export function settingsFor(...wanted: readonly (SettingUse | SettingKey)[]): SettingKey[] {
  return SETTING_KEYS.filter((key) => [key, ...SETTINGS[key].uses].some((name) => wanted.includes(name)));
}

/** The order gives each kind its own stream of numbers: append new kinds, never reorder. */
export const EVENT_KINDS = [
  "builds",
  "buildDeletions",
  "projectChanges",
  // Do not change a project's `modified_date`.
  "administratorChanges",
  // A listed project becomes hidden, or a hidden one is listed again.
  "hides",
  "logins",
  "newUsers",
  "userDeletions",
  "newProjects",
  "projectDeletions",
  // A version's `active` or `built` changes.
  "versionChanges",
  "newVersions",
  "versionDeletions",
  "newFiles",
  "fileDeletions",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** How often each kind of event occurs, per virtual day on average. 0 switches a kind off. */
export type Rates = Record<EventKind, number>;

export interface WorldOptions {
  /** The same seed and settings give the same world and the same future. @default 1 */
  seed?: number;
  /** How many records exist at the start, including hidden ones. @default 800 */
  users?: number;
  /** @default 700 */
  projects?: number;
  /** Never fewer than `projects`: each has a version `latest`. @default 3000 */
  versions?: number;
  /** @default 3500 */
  files?: number;
  /** @default 7000 */
  builds?: number;
  /** The virtual time at the start. All builds were triggered before it. @default 2024-05-15T12:00:00Z */
  startAt?: Date;
  /** Rates that differ from the defaults. The defaults depend on the size of the world. */
  rates?: Partial<Rates>;
  /** The zone of every date on the wire, an IANA name. @default "Etc/UTC" */
  timeZone?: string;
  /** The order of rows that compare as equal: arbitrary for ever, or another one each time. @default "stable" */
  ties?: "stable" | "shuffled" | "by id";
  /** The mean size of a finished build's `output` in bytes. @default 1536 */
  outputBytes?: number;
  /** The share of projects that lists hide at the start (0 to 1). @default 0.03 */
  hiddenShare?: number;
  /** The share of builds that stay `triggered` or `building` (0 to 1). @default 0.01 */
  stuckShare?: number;
  /** If set, a job closes a stuck build as failed this long after its trigger. @default never */
  closeStuckAfterMs?: number;
  /**
   * How far the service's clock is ahead of true time, in milliseconds. Negative when it is behind. The
   * `date` of each build and the `Date` of each reply use that clock; `Truth` uses true time. @default 0
   */
  clockOffsetMs?: number;
  /** Whether dates are sometimes behind that clock, so that a newer build has an older `date`. @default true */
  clockSteps?: boolean;
  /** Whether some texts contain Unicode, HTML and terminal escapes. @default true */
  oddTexts?: boolean;
  /** The share of file addresses at which there is no page (0 to 1). @default 0 */
  missingPageShare?: number;
  /** A path before `/api`, without a closing slash. All URIs in records contain it. @default "" */
  basePath?: string;
}

export type WorldSettings = Required<Omit<WorldOptions, "closeStuckAfterMs" | "rates">> & {
  closeStuckAfterMs: number | undefined;
  rates: Rates;
};

/** A world without random events: only `triggerBuilds` and the like change it. Open builds still finish. */
export const QUIET = Object.fromEntries(EVENT_KINDS.map((kind) => [kind, 0])) as Rates;

/** Fills in the defaults. By default all builds fall into the 30 days before the start. */
export function settleWorld(options: WorldOptions): WorldSettings {
  const { projects = 700, builds = 7000, users = 800, files = 3500 } = options;
  const versions = Math.max(options.versions ?? 3000, projects);
  const buildsPerDay = options.rates?.builds ?? builds / 30;
  return {
    seed: options.seed ?? 1,
    users,
    projects,
    versions,
    files,
    builds,
    startAt: options.startAt ?? new Date("2024-05-15T12:00:00Z"),
    timeZone: options.timeZone ?? "Etc/UTC",
    ties: options.ties ?? "stable",
    outputBytes: options.outputBytes ?? 1536,
    hiddenShare: options.hiddenShare ?? 0.03,
    stuckShare: options.stuckShare ?? 0.01,
    closeStuckAfterMs: options.closeStuckAfterMs,
    clockOffsetMs: options.clockOffsetMs ?? 0,
    clockSteps: options.clockSteps ?? true,
    oddTexts: options.oddTexts ?? true,
    missingPageShare: options.missingPageShare ?? 0,
    basePath: options.basePath ?? "",
    rates: {
      builds: buildsPerDay,
      buildDeletions: buildsPerDay / 40,
      projectChanges: projects / 30,
      administratorChanges: projects / 200,
      hides: projects / 500,
      logins: users / 20,
      newUsers: users / 400,
      userDeletions: users / 1500,
      newProjects: projects / 300,
      projectDeletions: projects / 1000,
      versionChanges: versions / 300,
      newVersions: versions / 200,
      versionDeletions: versions / 800,
      newFiles: files / 100,
      fileDeletions: files / 300,
      ...options.rates,
    },
  };
}

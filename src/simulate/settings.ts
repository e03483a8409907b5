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

/** The events of each kind in a virtual day, on average. 0 switches a kind off. */
export type Rates = Record<EventKind, number>;

/** The world of who asks for nothing else. */
const DEFAULTS = {
  /** The same seed and settings give the same world and the same future. */
  seed: 1,
  /** The records that exist at the start, including hidden ones. */
  users: 800,
  projects: 700,
  /** Never fewer than `projects`: each has a version `latest`. */
  versions: 3000,
  files: 3500,
  builds: 7000,
  /** The virtual time at the start. All builds were triggered before it. */
  startAt: new Date("2024-05-15T12:00:00Z"),
  /** The zone of every date on the wire, an IANA name. */
  timeZone: "Etc/UTC",
  /** The order of rows that compare as equal: arbitrary for ever, or another one each time. */
  ties: "stable" as "stable" | "shuffled" | "by id",
  /** The mean size of a finished build's `output` in bytes. */
  outputBytes: 1536,
  /** The share of projects that lists hide at the start (0 to 1). */
  hiddenShare: 0.03,
  /** The share of builds that stay `triggered` or `building` (0 to 1). */
  stuckShare: 0.01,
  /** The share of builds that somebody cancels (0 to 1): they end in a state that is not documented. */
  cancelledShare: 0,
  /** If set, a job closes a stuck build as failed this long after its trigger. */
  closeStuckAfterMs: undefined as number | undefined,
  /**
   * The milliseconds by which the service's clock is ahead of true time. Negative when it is behind. The
   * `date` of each build and the `Date` of each reply use that clock, and the truth of tests uses true time.
   */
  clockOffsetMs: 0,
  /** Dates are sometimes behind that clock, so that a newer build has an older `date`. */
  clockSteps: true,
  /** Some texts contain Unicode, HTML and terminal escapes. */
  oddTexts: true,
  /** The share of file addresses at which there is no page (0 to 1). */
  missingPageShare: 0,
  /** A path before `/api`, without a closing slash. All URIs in records contain it. */
  basePath: "",
};

export type WorldSettings = typeof DEFAULTS & { rates: Rates };

/** The settings that differ from the defaults. Those of the rates depend on the size of the world. */
export type WorldOptions = Partial<typeof DEFAULTS> & { rates?: Partial<Rates> };

/** A world without random events: only `triggerBuilds` and the like change it. Open builds still finish. */
export const QUIET = Object.fromEntries(EVENT_KINDS.map((kind) => [kind, 0])) as Rates;

/** Fills in the defaults. By default all builds fall into the 30 days before the start. */
export function settleWorld(options: WorldOptions): WorldSettings {
  const settings = { ...DEFAULTS, ...options };
  const { projects, users, files } = settings;
  const versions = Math.max(settings.versions, projects);
  const buildsPerDay = options.rates?.builds ?? settings.builds / 30;
  return {
    ...settings,
    versions,
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

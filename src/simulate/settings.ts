/** How often things happen, as events per virtual day on average. 0 switches a kind off. */
export interface Rates {
  builds: number;
  buildDeletions: number;
  projectChanges: number;
  /** Changes of a project's administrators; they do not move its `modified_date`. */
  administratorChanges: number;
  /** A listed project is hidden, or a hidden one comes back. */
  hides: number;
  logins: number;
  newUsers: number;
  userDeletions: number;
  newProjects: number;
  projectDeletions: number;
  /** A version's `active` or `built` changes. */
  versionChanges: number;
  newVersions: number;
  versionDeletions: number;
  newFiles: number;
  fileDeletions: number;
}

export interface WorldOptions {
  /** The same seed and settings give the same world and the same future. @default 1 */
  seed?: number;
  /** How many records exist at the start, hidden ones included. @default 800 */
  users?: number;
  /** @default 700 */
  projects?: number;
  /** At least one a project is made (`latest`), so fewer than `projects` are not possible. @default 3000 */
  versions?: number;
  /** @default 3500 */
  files?: number;
  /** @default 7000 */
  builds?: number;
  /** The virtual time at the start; all builds were triggered before it. @default 2024-05-15T12:00:00Z */
  startAt?: Date;
  /** Rates that differ from the defaults, which follow the size of the world. */
  rates?: Partial<Rates>;
  /** The zone of every date on the wire, an IANA name. @default "Etc/UTC" */
  timeZone?: string;
  /** The order of rows that nothing orders: one arbitrary order for all time, or another one for every request. @default "stable" */
  ties?: "stable" | "shuffled";
  /** The mean size of a finished build's `output` in bytes. @default 1536 */
  outputBytes?: number;
  /** The share of projects that lists hide at the start (0 to 1). @default 0.03 */
  hiddenShare?: number;
  /** The share of builds that stay `triggered` or `building` (0 to 1). @default 0.01 */
  stuckShare?: number;
  /** When given, a job closes a stuck build as failed this long after its trigger. @default never */
  closeStuckAfterMs?: number;
  /**
   * How far the service's clock is ahead of true time, in milliseconds; negative when it is behind. Every build's `date` and every reply's `Date`
   * are read off it; what the truth tells stays in true time. @default 0
   */
  clockOffsetMs?: number;
  /** Whether what dates builds now and then runs behind that clock, so that a newer build has an older `date`. @default true */
  clockSteps?: boolean;
  /** Whether texts hold Unicode, HTML and terminal escapes now and then. @default true */
  oddTexts?: boolean;
  /** A path in front of `/api`, without closing slash; all URIs in records carry it. @default "" */
  basePath?: string;
}

export type WorldSettings = Required<Omit<WorldOptions, "closeStuckAfterMs" | "rates">> & {
  closeStuckAfterMs: number | undefined;
  rates: Rates;
};

/** A world in which nothing happens but what is asked for by `triggerBuilds` and its like; open builds still finish. */
export const QUIET: Rates = {
  builds: 0,
  buildDeletions: 0,
  projectChanges: 0,
  administratorChanges: 0,
  hides: 0,
  logins: 0,
  newUsers: 0,
  userDeletions: 0,
  newProjects: 0,
  projectDeletions: 0,
  versionChanges: 0,
  newVersions: 0,
  versionDeletions: 0,
  newFiles: 0,
  fileDeletions: 0,
};

/** Fills in the defaults. The default history holds all builds in 30 days. */
export function settleWorld(options: WorldOptions): WorldSettings {
  const projects = options.projects ?? 700;
  const versions = Math.max(options.versions ?? 3000, projects);
  const builds = options.builds ?? 7000;
  const users = options.users ?? 800;
  const files = options.files ?? 3500;
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

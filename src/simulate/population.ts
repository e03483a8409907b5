import type { Resource } from "../resources/resources.ts";
import { DAY, type Micros } from "./local-dates.ts";
import { createRandom, hash, ODD_TEXTS, type Random, STREAM, word } from "./random.ts";
import type { WorldSettings } from "./settings.ts";

/** Rows hold what can change or must be compared. All other fields are computed from the id (`records.ts`). */
export interface UserRow {
  id: number;
  lastLoginAt: Micros | null;
}

export interface ProjectRow {
  id: number;
  slug: string;
  hidden: boolean;
  /** The ids of the administrators. Some belong to no user (any more). */
  users: number[];
  publishedAt: Micros;
  modifiedAt: Micros;
  /** The changes of its text so far. Each edition has another description. */
  edition: number;
  /** Increases with each change of its record. */
  revision: number;
  versions: VersionRow[];
}

export interface VersionRow {
  id: number;
  project: ProjectRow;
  slug: string;
  verboseName: string;
  active: boolean;
  built: boolean;
}

export interface FileRow {
  id: number;
  version: VersionRow;
}

const FIRST_VERSION_ID = 1001;
const FIRST_FILE_ID = 30_001;

/**
 * The rows of a world except the builds, and how they come, change and go. Ids are never reused. The projects of the start are
 * older than `firstBuildAt`.
 */
export function createPopulation(settings: WorldSettings, startAt: Micros, firstBuildAt: Micros) {
  const { seed } = settings;
  /** An arbitrary but stable order, as a database returns rows without `order by`. */
  const arbitrary = (a: { id: number }, b: { id: number }): number =>
    hash(seed, STREAM.order, a.id) - hash(seed, STREAM.order, b.id) || a.id - b.id;

  const users = createRoster<UserRow>(arbitrary);
  const projects = createRoster<ProjectRow>(bySlug);
  const listedProjects = createRoster<ProjectRow>(bySlug);
  const versions = createRoster<VersionRow>((a, b) =>
    a.verboseName === b.verboseName ? arbitrary(a, b) : a.verboseName < b.verboseName ? 1 : -1,
  );
  const files = createRoster<FileRow>(arbitrary);
  const slugs = new Set<string>();
  let userCount = 0;
  let projectCount = 0;
  let versionCount = 0;
  let fileCount = 0;

  function makeUser(now: Micros): UserRow {
    const id = ++userCount;
    const random = createRandom(hash(seed, STREAM.user, id));
    return {
      id,
      lastLoginAt: random.chance(0.05) ? null : tidy(random, now - random.next() ** 3 * 500 * DAY),
    };
  }

  function makeProject(now: Micros, hidden: boolean): ProjectRow {
    const id = ++projectCount;
    const random = createRandom(hash(seed, STREAM.project, id));
    const words = random.chance(0.5) ? 2 : 3;
    let slug = Array.from({ length: words }, () => word(random)).join("-");
    // A slug that looks like an id can only be found with the filter of the list.
    if (settings.oddTexts && id === 7) slug = "42";
    if (slugs.has(slug)) slug = `${slug}-${id}`;
    slugs.add(slug);
    const publishedAt = tidy(random, firstBuildAt - random.next() * 700 * DAY);
    const row: ProjectRow = {
      id,
      slug,
      hidden,
      users: [],
      publishedAt,
      modifiedAt: tidy(random, publishedAt + random.next() ** 0.3 * (now - publishedAt)),
      edition: 0,
      revision: 0,
      versions: [],
    };
    row.users = drawAdministrators(random);
    return row;
  }

  function drawAdministrators(random: Random): number[] {
    const ids = new Set<number>();
    for (let wanted = 1 + Math.floor(random.next() ** 4 * 5); wanted > 0; wanted--) {
      // A few administrators were deleted long ago, and the references to them stayed.
      ids.add(random.chance(0.01) ? 900_000 + random.int(1000) : 1 + random.int(Math.max(1, userCount)));
    }
    return [...ids];
  }

  function makeVersion(project: ProjectRow): VersionRow {
    const id = FIRST_VERSION_ID + versionCount++;
    const random = createRandom(hash(seed, STREAM.version, id));
    let verboseName = project.versions.length === 0 ? "latest" : versionName(random);
    let slug = verboseName.toLowerCase().replace(/[^a-z0-9._-]+/g, "-") || "version";
    if (project.versions.some((other) => other.slug === slug)) {
      slug = `${slug}-${id}`;
      // Only the slug distinguishes two branches with the same name. Usually the names differ too.
      if (!random.chance(0.1)) verboseName = `${verboseName}-${id}`;
    }
    const active = verboseName === "latest" || random.chance(0.7);
    const row = { id, project, slug, verboseName, active, built: active && random.chance(0.9) };
    project.versions.push(row);
    return row;
  }

  function versionName(random: Random): string {
    const kind = random.next();
    if (kind < 0.15) return "stable";
    if (kind < 0.25) return random.pick(["develop", "beta", "master", "LATEST"]);
    if (kind < 0.35) return `feature/${word(random)}-${random.int(90)}`;
    if (kind < 0.36 && settings.oddTexts) return random.pick(ODD_TEXTS);
    const number = `${random.int(4)}.${random.int(25)}`;
    return kind < 0.6 ? number : `${kind < 0.8 ? "v" : ""}${number}.${random.int(10)}`;
  }

  /** A few projects have many of everything, most have few. */
  function popularProject(random: Random): ProjectRow | undefined {
    return projects.ordered[Math.floor(random.next() ** 2 * projects.ordered.length)];
  }

  /** A file of any version; none where there is no version. */
  function makeFile(random: Random): FileRow[] {
    const version = versions.ordered[random.int(versions.ordered.length)];
    return version ? [{ id: FIRST_FILE_ID + fileCount++, version }] : [];
  }

  const random = createRandom(hash(seed, STREAM.history, 0));
  users.addAll(Array.from({ length: settings.users }, () => makeUser(startAt)));
  projects.addAll(
    Array.from({ length: settings.projects }, () =>
      makeProject(startAt, random.chance(settings.hiddenShare)),
    ),
  );
  listedProjects.addAll([...projects.byBirth()].filter((project) => !project.hidden));
  const firstVersions = [...projects.byBirth()].map((project) => makeVersion(project));
  for (let more = settings.projects === 0 ? 0 : settings.versions - settings.projects; more > 0; more--) {
    const project = popularProject(random);
    if (project) firstVersions.push(makeVersion(project));
  }
  versions.addAll(firstVersions);
  files.addAll(Array.from({ length: settings.files }, () => makeFile(random)).flat());

  return {
    /** By resource. Builds are too many for rows of their own. */
    rosters: { user: users, project: projects, version: versions, file: files } satisfies {
      [R in RosterResource]: unknown;
    },
    users,
    projects,
    listedProjects,
    versions,
    files,
    popularProject,
    drawAdministrators,
    addUser: (now: Micros) => users.add(makeUser(now)),
    addProject(now: Micros): void {
      const project = makeProject(now, false);
      project.publishedAt = now;
      project.modifiedAt = now;
      projects.add(project);
      listedProjects.add(project);
      versions.add(makeVersion(project));
    },
    addVersion: (project: ProjectRow) => versions.add(makeVersion(project)),
    addFile(random: Random): void {
      for (const file of makeFile(random)) files.add(file);
    },
    setHidden(project: ProjectRow, hidden: boolean): void {
      project.hidden = hidden;
      if (hidden) listedProjects.remove(project);
      else listedProjects.add(project);
      projects.touch();
    },
    /** Marks a project's record as changed. Lists that embed it change with it. */
    touchProject(project: ProjectRow): void {
      project.revision++;
      projects.touch();
      listedProjects.touch();
    },
  };
}

/** The resources with a row for each record. */
export type RosterResource = Exclude<Resource, "build">;

export type Population = ReturnType<typeof createPopulation>;

function bySlug(a: ProjectRow, b: ProjectRow): number {
  return a.slug < b.slug ? -1 : a.slug > b.slug ? 1 : 0;
}

/** Whole microseconds. One date in fifty is a full second and has no fraction on the wire. */
function tidy(random: Random, moment: Micros): Micros {
  return random.chance(0.02) ? Math.floor(moment / 1e6) * 1e6 : Math.floor(moment);
}

/** The first place whose row is past a point of the order; the number of rows where none is. */
export function firstPlace<T>(ordered: readonly T[], isPast: (row: T) => boolean): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(ordered[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The rows of a resource, by id and in the order of their list. `compare` must order any two different rows. */
function createRoster<T extends { id: number }>(compare: (a: T, b: T) => number) {
  const byId = new Map<number, T>();
  let ordered: T[] = [];
  let revision = 0;

  const position = (row: T): number => firstPlace(ordered, (other) => compare(other, row) >= 0);

  return {
    get ordered(): readonly T[] {
      return ordered;
    },
    /** Increases with each change. `touch` reports a change inside a row. */
    get revision() {
      return revision;
    },
    find: (id: number) => byId.get(id),
    add(row: T): void {
      byId.set(row.id, row);
      ordered.splice(position(row), 0, row);
      revision++;
    },
    /** Adds many rows with one sort. */
    addAll(rows: Iterable<T>): void {
      for (const row of rows) {
        byId.set(row.id, row);
        ordered.push(row);
      }
      ordered.sort(compare);
      revision++;
    },
    remove(row: T): boolean {
      if (!byId.delete(row.id)) return false;
      ordered.splice(position(row), 1);
      revision++;
      return true;
    },
    removeWhere(goes: (row: T) => boolean): T[] {
      const gone = ordered.filter(goes);
      if (gone.length === 0) return gone;
      ordered = ordered.filter((row) => !goes(row));
      for (const row of gone) byId.delete(row.id);
      revision++;
      return gone;
    },
    touch(): void {
      revision++;
    },
    /** In the order of creation. */
    byBirth: (): Iterable<T> => byId.values(),
  };
}

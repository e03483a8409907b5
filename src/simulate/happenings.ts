import type { Resource } from "../resources/resources.ts";
import type { BuildStore } from "./builds.ts";
import { DAY, type Micros } from "./local-dates.ts";
import type { Population, ProjectRow, VersionRow } from "./population.ts";
import { createRandom, hash, type Random, STREAM } from "./random.ts";
import { EVENT_KINDS, type EventKind, type Rates } from "./settings.ts";

export interface TrueDeletion {
  resource: Resource;
  id: string;
  atMs: number;
}

/** Deletes rows with all that depends on them, as the service's database does, and lists the deletions. */
export function createDeletions(population: Population, builds: BuildStore) {
  const all: TrueDeletion[] = [];

  function note(resource: Resource, id: number, at: Micros): void {
    all.push({ resource, id: String(id), atMs: at / 1000 });
  }

  function deleteBuilds(goes: (row: number) => boolean, at: Micros): void {
    for (const row of builds.removeWhere(goes, at)) note("build", builds.idOf(row), at);
  }

  function deleteVersions(gone: ReadonlySet<VersionRow>, at: Micros): void {
    const ids = new Set([...gone].map((version) => version.id));
    deleteBuilds((row) => ids.has(builds.version(row) ?? 0), at);
    for (const file of population.files.removeWhere((file) => gone.has(file.version))) {
      note("file", file.id, at);
    }
    for (const version of population.versions.removeWhere((version) => gone.has(version))) {
      version.project.versions = version.project.versions.filter((other) => other !== version);
      note("version", version.id, at);
    }
  }

  function deleteProject(project: ProjectRow, at: Micros): void {
    deleteVersions(new Set(project.versions), at);
    deleteBuilds((row) => builds.project(row) === project.id, at);
    population.projects.remove(project);
    population.listedProjects.remove(project);
    note("project", project.id, at);
  }

  function deleteBuild(row: number, at: Micros): void {
    builds.remove(row, at);
    note("build", builds.idOf(row), at);
  }

  return {
    /** In the order of time. */
    all: all as readonly TrueDeletion[],
    deleteBuilds,
    deleteVersions,
    deleteProject,
    deleteBuild,
    /** False when there is no such record. References to it may stay, and dangle: projects still name a deleted user. */
    deleteRecord(resource: Resource, id: number, at: Micros): boolean {
      if (resource === "build") {
        const row = builds.rowOf(id);
        if (row !== undefined) deleteBuild(row, at);
        return row !== undefined;
      }
      const roster = population.rosters[resource];
      const row = roster.find(id);
      if (row === undefined) return false;
      if (resource === "project") deleteProject(row as ProjectRow, at);
      else if (resource === "version") deleteVersions(new Set([row as VersionRow]), at);
      else {
        roster.remove(row as never);
        note(resource, id, at);
      }
      return true;
    },
  };
}

type Happening = (at: Micros, random: Random) => void;

/** The effect of each kind of event on the world. An event without anything to change has no effect. */
export function createHappenings(
  population: Population,
  builds: BuildStore,
  deletions: ReturnType<typeof createDeletions>,
  addBuild: Happening,
): Record<EventKind, Happening> {
  const { users, projects, versions, files } = population;

  const toOne =
    <T>(roster: { readonly ordered: readonly T[] }, act: (row: T, ...when: Parameters<Happening>) => void) =>
    (at: Micros, random: Random): void => {
      const row = roster.ordered[random.int(roster.ordered.length)];
      if (row !== undefined) act(row, at, random);
    };

  return {
    builds: addBuild,
    buildDeletions(at, random) {
      if (builds.liveCount > 0) deletions.deleteBuild(builds.rowAt(random.int(builds.liveCount)), at);
    },
    projectChanges: toOne(projects, (project, at) => {
      project.edition++;
      project.modifiedAt = at;
      population.touchProject(project);
    }),
    administratorChanges: toOne(projects, (project, _at, random) => {
      project.users = population.drawAdministrators(random);
      population.touchProject(project);
    }),
    hides: toOne(projects, (project) => population.setHidden(project, !project.hidden)),
    logins: toOne(users, (user, at) => {
      user.lastLoginAt = at;
      users.touch();
    }),
    newUsers: (at) => population.addUser(at),
    userDeletions: toOne(users, ({ id }, at) => deletions.deleteRecord("user", id, at)),
    newProjects: (at) => population.addProject(at),
    projectDeletions: toOne(projects, deletions.deleteProject),
    versionChanges: toOne(versions, (version, _at, random) => {
      if (random.chance(0.5)) version.active = !version.active;
      else version.built = !version.built;
      versions.touch();
    }),
    newVersions: toOne(projects, (project) => population.addVersion(project)),
    versionDeletions: toOne(versions, (version, at) => {
      // A project always keeps its `latest`, because builds are triggered for it.
      if (version.project.versions[0] !== version) deletions.deleteVersions(new Set([version]), at);
    }),
    newFiles: (_at, random) => population.addFile(random),
    fileDeletions: toOne(files, ({ id }, at) => deletions.deleteRecord("file", id, at)),
  };
}

/** Events of each kind at their mean rate. Each has its own random numbers, so the steps of time change nothing. */
export function createWorldEvents(seed: number, rates: Rates, startAt: Micros) {
  const queues = EVENT_KINDS.filter((kind) => rates[kind] > 0).map((kind) => {
    const random = createRandom(hash(seed, STREAM.event, EVENT_KINDS.indexOf(kind)));
    const mean = DAY / rates[kind];
    return { kind, random, mean, nextAt: startAt + Math.ceil(random.wait(mean)) };
  });

  return {
    /** Runs all events that are due up to a moment, in their order. */
    runUntil(moment: Micros, happen: (kind: EventKind, at: Micros, random: Random) => void): void {
      for (;;) {
        let due = queues[0];
        for (const queue of queues) if (due && queue.nextAt < due.nextAt) due = queue;
        if (!due || due.nextAt > moment) return;
        const at = due.nextAt;
        due.nextAt = at + Math.max(1, Math.ceil(due.random.wait(due.mean)));
        happen(due.kind, at, due.random);
      }
    },
  };
}

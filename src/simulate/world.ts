import type { Catalog } from "../serve/catalog.ts";
import type { Resource } from "../wire/resources.ts";
import { createBuildLives } from "./build-life.ts";
import { createBuildStore } from "./build-store.ts";
import { createLocalDates, DAY, type Micros, SECOND } from "./local-dates.ts";
import {
  createPopulation,
  type FileRow,
  type ProjectRow,
  type UserRow,
  type VersionRow,
} from "./population.ts";
import { createRandom, hash, type Random, STREAM } from "./random.ts";
import { createRecords } from "./records.ts";
import { settleWorld, type WorldOptions, type WorldSettings } from "./settings.ts";
import { createTruth, type TrueDeletion, type Truth } from "./truth.ts";
import { createWorldCatalog } from "./world-catalog.ts";
import { createWorldEvents, type EventKind } from "./world-events.ts";

/** A service's whole content, with a clock that only moves when it is told to. */
export interface World {
  readonly settings: Readonly<WorldSettings>;
  now(): Date;
  /** Lets virtual milliseconds pass: everything that is due in them happens, in its order. */
  advance(ms: number): void;
  /** Like `advance`; a moment in the past does nothing. */
  advanceTo(moment: Date): void;
  /**
   * Triggers builds at this very moment, at the head of the list; returns their ids, oldest first. Each one takes a
   * microsecond of virtual time, so that their dates differ. A world without projects triggers none.
   */
  triggerBuilds(count: number): string[];
  /** Deletes a record now, with what depends on it; false when there is none. */
  deleteRecord(resource: Resource, id: string): boolean;
  truth(): Truth;
  catalog(): Catalog;
}

/** Makes a whole world from a seed; a million builds take seconds, and their texts no memory. */
export function createWorld(options: WorldOptions = {}): World {
  const settings = settleWorld(options);
  const { seed, rates } = settings;
  const dates = createLocalDates(settings.timeZone);
  const startAt: Micros = settings.startAt.getTime() * 1000;
  const population = createPopulation(settings, startAt);
  const builds = createBuildStore(settings.builds + 1024);
  const lives = createBuildLives(settings);
  const records = createRecords({ settings, dates, population, builds, lives });
  const events = createWorldEvents(seed, rates, startAt);
  const deletions: TrueDeletion[] = [];
  let now = startAt;
  let buildRevision = 0;

  function addBuild(createdAt: Micros, random: Random): void {
    const project = population.popularProject(random);
    if (!project) return;
    const version = random.chance(0.7)
      ? project.versions[0]
      : project.versions[random.int(project.versions.length)];
    const shown = dates.toLocal(createdAt - lives.clockLag(createdAt));
    builds.add({
      createdAt,
      date: random.chance(0.02) ? Math.floor(shown / SECOND) * SECOND : shown,
      project: project.id,
      version: version && !random.chance(0.03) ? version.id : null,
    });
    buildRevision++;
  }

  function generateHistory(): void {
    const random = createRandom(hash(seed, STREAM.history, 1));
    const gap = DAY / (rates.builds > 0 ? rates.builds : settings.builds / 30);
    for (let left = settings.builds; left > 0; left--) {
      addBuild(Math.floor(startAt - (left - random.next()) * gap) - 1, random);
    }
  }

  function noteDeletion(resource: Resource, id: number, at: Micros): void {
    deletions.push({ resource, id: String(id), atMs: at / 1000 });
  }

  function deleteBuilds(goes: (row: number) => boolean, at: Micros): void {
    for (const row of builds.removeWhere(goes, at)) noteDeletion("build", builds.idOf(row), at);
    buildRevision++;
  }

  function deleteUser(user: UserRow, at: Micros): void {
    // Projects go on naming the user: such references dangle.
    population.users.remove(user);
    noteDeletion("user", user.id, at);
  }

  function deleteFile(file: FileRow, at: Micros): void {
    population.files.remove(file);
    noteDeletion("file", file.id, at);
  }

  function deleteVersions(gone: ReadonlySet<VersionRow>, at: Micros): void {
    const ids = new Set([...gone].map((version) => version.id));
    deleteBuilds((row) => ids.has(builds.version(row) ?? 0), at);
    for (const file of population.files.removeWhere((file) => gone.has(file.version))) {
      noteDeletion("file", file.id, at);
    }
    for (const version of population.versions.removeWhere((version) => gone.has(version))) {
      version.project.versions = version.project.versions.filter((other) => other !== version);
      noteDeletion("version", version.id, at);
    }
  }

  function deleteProject(project: ProjectRow, at: Micros): void {
    deleteVersions(new Set(project.versions), at);
    deleteBuilds((row) => builds.project(row) === project.id, at);
    population.projects.remove(project);
    population.listedProjects.remove(project);
    noteDeletion("project", project.id, at);
  }

  function deleteBuild(row: number, at: Micros): void {
    builds.remove(row, at);
    noteDeletion("build", builds.idOf(row), at);
    buildRevision++;
  }

  function happen(kind: EventKind, at: Micros, random: Random): void {
    const { users, projects, versions, files } = population;
    const user = users.ordered[random.int(users.ordered.length)];
    const project = projects.ordered[random.int(projects.ordered.length)];
    const version = versions.ordered[random.int(versions.ordered.length)];
    const file = files.ordered[random.int(files.ordered.length)];
    switch (kind) {
      case "builds":
        return addBuild(at, random);
      case "buildDeletions":
        if (builds.liveCount > 0) deleteBuild(builds.rowAt(random.int(builds.liveCount)), at);
        return;
      case "projectChanges":
        if (!project) return;
        project.edition++;
        project.modifiedAt = at;
        return population.touchProject(project);
      case "administratorChanges":
        if (!project) return;
        project.users = population.drawAdministrators(random);
        return population.touchProject(project);
      case "hides":
        if (project) population.setHidden(project, !project.hidden);
        return;
      case "logins":
        if (!user) return;
        user.lastLoginAt = at;
        return users.touch();
      case "newUsers":
        return population.addUser(at);
      case "userDeletions":
        if (user) deleteUser(user, at);
        return;
      case "newProjects":
        return population.addProject(at);
      case "projectDeletions":
        if (project) deleteProject(project, at);
        return;
      case "versionChanges":
        if (!version) return;
        if (random.chance(0.5)) version.active = !version.active;
        else version.built = !version.built;
        return versions.touch();
      case "newVersions":
        if (project) population.addVersion(project);
        return;
      case "versionDeletions":
        // A project always keeps its `latest`, which is what builds are triggered for.
        if (version && version.project.versions[0] !== version) deleteVersions(new Set([version]), at);
        return;
      case "newFiles":
        return population.addFile(random);
      case "fileDeletions":
        if (file) deleteFile(file, at);
        return;
    }
  }

  function advanceTo(moment: Micros): void {
    if (!(moment > now)) return;
    events.runUntil(moment, happen);
    now = moment;
    buildRevision++;
  }

  generateHistory();
  const catalog = createWorldCatalog({
    settings,
    population,
    builds,
    lives,
    records,
    now: () => now,
    buildRevision: () => buildRevision,
  });

  return {
    settings,
    now: () => new Date(now / 1000),
    advance: (ms) => advanceTo(now + Math.round(ms * 1000)),
    advanceTo: (moment) => advanceTo(moment.getTime() * 1000),
    triggerBuilds(count) {
      const random = createRandom(hash(seed, STREAM.history, 2 + builds.rowCount));
      const ids: string[] = [];
      for (let left = count; left > 0; left--) {
        const project = population.popularProject(random);
        if (!project) break;
        advanceTo(now + 1);
        const row = builds.add({
          createdAt: now,
          date: dates.toLocal(now),
          project: project.id,
          version: project.versions[0]?.id ?? null,
        });
        ids.push(String(builds.idOf(row)));
      }
      buildRevision++;
      return ids;
    },
    deleteRecord(resource, id) {
      const number = Number(id);
      if (resource === "build") {
        const row = builds.rowOf(number);
        if (row !== undefined) deleteBuild(row, now);
        return row !== undefined;
      }
      const { users, projects, versions, files } = population;
      const user = resource === "user" ? users.find(number) : undefined;
      const project = resource === "project" ? projects.find(number) : undefined;
      const version = resource === "version" ? versions.find(number) : undefined;
      const file = resource === "file" ? files.find(number) : undefined;
      if (user) deleteUser(user, now);
      if (project) deleteProject(project, now);
      if (version) deleteVersions(new Set([version]), now);
      if (file) deleteFile(file, now);
      return Boolean(user ?? project ?? version ?? file);
    },
    truth: () => createTruth({ population, builds, lives, records, deletions, now: () => now }),
    catalog: () => catalog,
  };
}

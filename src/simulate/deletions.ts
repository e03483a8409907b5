import type { Resource } from "../resources/resources.ts";
import type { BuildStore } from "./build-store.ts";
import type { Micros } from "./local-dates.ts";
import type { Population, ProjectRow, VersionRow } from "./population.ts";
import type { TrueDeletion } from "./truth.ts";

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

export type Deletions = ReturnType<typeof createDeletions>;

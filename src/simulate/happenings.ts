import type { BuildStore } from "./build-store.ts";
import type { Deletions } from "./deletions.ts";
import type { Micros } from "./local-dates.ts";
import type { Population } from "./population.ts";
import type { Random } from "./random.ts";
import type { EventKind } from "./settings.ts";

type Happening = (at: Micros, random: Random) => void;

/** The effect of each kind of event on the world. An event without anything to change has no effect. */
export function createHappenings(deps: {
  population: Population;
  builds: BuildStore;
  deletions: Deletions;
  addBuild: Happening;
}): Record<EventKind, Happening> {
  const { population, builds, deletions, addBuild } = deps;
  const { users, projects, versions, files } = population;

  function toOne<T>(
    roster: { readonly ordered: readonly T[] },
    act: (row: T, at: Micros, random: Random) => void,
  ) {
    return (at: Micros, random: Random): void => {
      const row = roster.ordered[random.int(roster.ordered.length)];
      if (row !== undefined) act(row, at, random);
    };
  }

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

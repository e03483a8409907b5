/**
 * A living service for the demo, the tests and the benches: it makes records, lives their lives, and answers by
 * `serve/protocol`. All follows from a seed.
 */
import type { Catalog } from "../serve/protocol/catalog.ts";
import { createBuildLives, createBuildStore } from "./builds.ts";
import { createDeletions, createHappenings, createWorldEvents } from "./happenings.ts";
import { createLocalDates, DAY, type Micros, SECOND } from "./local-dates.ts";
import { createPopulation } from "./population.ts";
import { createRandom, hash, type Random, STREAM } from "./random.ts";
import { createRecords, type WorldParts } from "./records.ts";
import { settleWorld, type WorldOptions, type WorldSettings } from "./settings.ts";
import { createWorldCatalog } from "./world-catalog.ts";
import { createWorldPages } from "./world-pages.ts";

/** The whole content of a service, with a clock that only moves on request. */
export type World = ReturnType<typeof createWorld>;

/** Creates a whole world from a seed. A million builds take seconds, and their texts take no memory. */
export function createWorld(options: WorldOptions = {}) {
  const settings = settleWorld(options);
  const { seed, rates } = settings;
  const dates = createLocalDates(settings.timeZone);
  const startAt: Micros = settings.startAt.getTime() * 1000;
  const clockOffset: Micros = Math.round(settings.clockOffsetMs * 1000);
  /** The builds from before the start are spread over so long. */
  const history: Micros = DAY * (rates.builds > 0 ? settings.builds / rates.builds : 30);
  const population = createPopulation(settings, startAt, startAt - history);
  const builds = createBuildStore(settings.builds + 1024);
  const lives = createBuildLives(settings);
  const parts: WorldParts = { settings, dates, population, builds, lives };
  const records = createRecords(parts);
  const events = createWorldEvents(seed, rates, startAt);
  const pages = createWorldPages(parts);
  const deletions = createDeletions(population, builds);
  const happenings = createHappenings(population, builds, deletions, addBuild);
  let now = startAt;
  let buildRevision = 0;

  function addBuild(createdAt: Micros, random: Random): void {
    const project = population.popularProject(random);
    if (!project) return;
    const version = random.chance(0.7)
      ? project.versions[0]
      : project.versions[random.int(project.versions.length)];
    const shown = dates.toLocal(createdAt + clockOffset - lives.clockLag(createdAt));
    builds.add({
      createdAt,
      date: random.chance(0.02) ? Math.floor(shown / SECOND) * SECOND : shown,
      project: project.id,
      version: version && !random.chance(0.03) ? version.id : null,
    });
    buildRevision++;
  }

  function advanceTo(moment: Micros): void {
    if (!(moment > now)) return;
    events.runUntil(moment, (kind, at, random) => happenings[kind](at, random));
    now = moment;
    buildRevision++;
  }

  const random = createRandom(hash(seed, STREAM.history, 1));
  const gap = history / settings.builds;
  for (let left = settings.builds; left > 0; left--) {
    addBuild(Math.floor(startAt - (left - random.next()) * gap) - 1, random);
  }
  const catalog = createWorldCatalog({
    parts,
    records,
    pages,
    now: () => now,
    buildRevision: () => buildRevision,
  });

  return {
    settings: settings as Readonly<WorldSettings>,
    /** True time. The service's own clock is ahead of it by `clockOffsetMs`. */
    now: () => new Date(now / 1000),
    /** Lets virtual milliseconds pass: all events that are due in them happen, in their order. */
    advance: (ms: number) => advanceTo(now + Math.round(ms * 1000)),
    /** Like `advance`, up to a moment. A moment in the past changes nothing. */
    advanceTo: (moment: Date) => advanceTo(moment.getTime() * 1000),
    page: pages.find,
    catalog: (): Catalog => catalog,
    /** For who must know what really happened, or changes a row by hand. `builds` says that one of them changed. */
    inner: {
      ...parts,
      records,
      pages,
      deletions,
      advanceTo,
      now: () => now,
      touchBuilds: () => void buildRevision++,
    },
  };
}

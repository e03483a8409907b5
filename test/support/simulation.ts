/** The simulated service as tests and benches need it: with counts of its requests, and a world whose truth is known. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RecordTypes, Resource } from "../../src/resources/resources.ts";
import type { TrueDeletion } from "../../src/simulate/happenings.ts";
import { createRandom, hash, STREAM } from "../../src/simulate/random.ts";
import * as simulated from "../../src/simulate/service.ts";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import * as bare from "../../src/simulate/world.ts";

export interface SimulationOptions extends simulated.SimulationOptions {
  /** Whether to store the arrival of each request, 8 bytes each. @default false */
  recordArrivals?: boolean;
}

export type Simulation = Awaited<ReturnType<typeof startSimulation>>;

/** Serves a world, and counts the requests. */
export async function startSimulation({ recordArrivals = false, ...options }: SimulationOptions) {
  let counters = createCounters();
  let inFlight = 0;

  function count(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url?.split("?", 1)[0] ?? "";
    counters.total++;
    if (recordArrivals) counters.arrivalsMs.push(performance.now());
    counters.byPath.set(path, (counters.byPath.get(path) ?? 0) + 1);
    counters.peakInFlight = Math.max(counters.peakInFlight, ++inFlight);
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    response.once("close", () => {
      inFlight--;
      counters.bytes += socket.bytesWritten - sentBefore;
      if (!response.headersSent) return;
      const { statusCode } = response;
      counters.byStatus.set(statusCode, (counters.byStatus.get(statusCode) ?? 0) + 1);
    });
  }

  const { server, url, close } = await simulated.startSimulation(options);
  server.prependListener("request", count);
  return {
    url,
    close,
    /** The requests since the start or the last `resetRequests()`. */
    requests: () => counters,
    resetRequests() {
      counters = createCounters();
    },
  };
}

const createCounters = () => ({
  total: 0,
  /** By path without the query, such as `/api/v1/build/`. */
  byPath: new Map<string, number>(),
  byStatus: new Map<number, number>(),
  /** Bytes sent, including headers. */
  bytes: 0,
  /** The largest number of requests under way at once. */
  peakInFlight: 0,
  /** With `recordArrivals`, the `performance.now()` of this process at each request. */
  arrivalsMs: [] as number[],
});

export type World = ReturnType<typeof createWorld>;

/** A world that can be changed by hand, and whose truth is known. */
export function createWorld(options: WorldOptions = {}) {
  const { inner, ...world } = bare.createWorld(options);
  const { population, builds, deletions, now } = inner;
  const { seed, clockOffsetMs } = world.settings;
  return {
    ...world,
    inner,
    /**
     * Triggers builds now, at the head of the list, and returns their ids, oldest first. Each takes a microsecond, so that
     * the dates differ. A world without projects triggers none.
     */
    triggerBuilds(count: number): string[] {
      const random = createRandom(hash(seed, STREAM.history, 2 + builds.rowCount));
      const ids: string[] = [];
      for (let left = count; left > 0; left--) {
        const project = population.popularProject(random);
        if (!project) break;
        inner.advanceTo(now() + 1);
        const row = builds.add({
          createdAt: now(),
          date: inner.dates.toLocal(now() + Math.round(clockOffsetMs * 1000)),
          project: project.id,
          version: project.versions[0]?.id ?? null,
        });
        ids.push(String(builds.idOf(row)));
      }
      inner.touchBuilds();
      return ids;
    },
    /** Deletes a record now, with everything that depends on it. False when there is no such record. */
    deleteRecord(resource: Resource, id: string): boolean {
      inner.touchBuilds();
      return deletions.deleteRecord(resource, Number(id), now());
    },
    /** Restarts the service's database, which forgets how far its ids had come: those of deleted builds on top are given again. */
    restartDatabase: () => builds.rewindIds(),
    /** Restores the builds from a backup of an earlier moment: those that came since are gone, and their ids are given again. */
    restoreBuilds(moment: Date): void {
      deletions.deleteBuilds((row) => builds.createdAt(row) > moment.getTime() * 1000, now());
      builds.rewindIds();
      inner.touchBuilds();
    },
    /** Gives the page of a file another text now. False when there is no such file. */
    editPage(fileId: string): boolean {
      const file = population.files.find(Number(fileId));
      if (file) inner.pages.edit(file, new Date(now() / 1000));
      return file !== undefined;
    },
    truth: () => createTruth(inner),
  };
}

export interface TrueRecord<R> {
  record: R;
  /** False for a project that the lists hide and whose detail answers 404. */
  listed: boolean;
}

/** A build entered a state. The first transition of a build has no `from`. */
export interface TrueTransition {
  buildId: string;
  from: string | null;
  to: string;
  /** Milliseconds since 1970 with a fraction, exact to the microsecond. */
  atMs: number;
}

/**
 * The true content and history of a world. Each call reads the current world. It reads the rows of a world directly,
 * without the hiding and ordering of the protocol.
 */
function createTruth({ population, builds, lives, records, deletions, now }: bare.World["inner"]) {
  function* recordsOf(resource: Resource): Iterable<TrueRecord<RecordTypes[Resource]>> {
    if (resource === "build") {
      for (let row = 0; row < builds.rowCount; row++)
        if (builds.deletedAt(row) === Number.POSITIVE_INFINITY)
          yield { record: records.build(row, now()), listed: true };
      return;
    }
    for (const row of population.rosters[resource].byBirth())
      yield { record: records[resource](row as never), listed: !("hidden" in row && row.hidden) };
  }

  return {
    /** All records that are not deleted, in the order of their creation, made one by one. */
    records: <R extends Resource>(resource: R) => recordsOf(resource) as Iterable<TrueRecord<RecordTypes[R]>>,
    /** All transitions until now, build by build in the order of their ids. They end with a build's deletion. */
    *transitions(): Iterable<TrueTransition> {
      for (let row = 0; row < builds.rowCount; row++) {
        const end = Math.min(now(), builds.deletedAt(row));
        const life = lives.lifeOf(row, builds.createdAt(row), builds.project(row));
        let from: string | null = null;
        for (const { state, at } of life.steps) {
          if (at > end) break;
          yield { buildId: String(builds.idOf(row)), from, to: state, atMs: at / 1000 };
          from = state;
        }
      }
    },
    /** All deletions since the world began, in the order of time. */
    deletions: (): readonly TrueDeletion[] => deletions.all.slice(),
  };
}

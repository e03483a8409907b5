import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import type { Catalog } from "../../src/serve/protocol/catalog.ts";
import { createRandom, hash } from "../../src/simulate/random.ts";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import { createWorld, type World } from "../../test/support/simulation.ts";
import { hiddenProjects } from "../judge/records.ts";

/** Ids by resource. */
export type Ids = Record<Resource, Set<string>>;

/** How long a count is cached, in virtual milliseconds: for some runs. */
const COUNT_MS = 600 * 60_000;
/** The shares of the records that are taken out of the pages. */
const HIDDEN_SHARES = [0.02, 0.2] as const;

/**
 * A living world as services show it that are more than one machine and one query:
 *
 * - **replicas**: a part of the replies, or all of them, come from a world that is the same some minutes ago, lists and details alike;
 * - **cached counts**: `total_count` is one of an earlier moment, and `next` goes by it. The records are those of the moment;
 * - **hidden records**: records are taken out of a page after it was cut, so that it is short and has a next one. Their details answer.
 */
export interface OddWorld extends World {
  /** Draws how odd the service is from now on. */
  drawOddities(): void;
  /** Whether a replica that is behind answers now. */
  hasReplica(): boolean;
  /** How odd it is now. */
  oddities(): string;
  /** Whether a path is that of a record that was taken out of a page, now or before. */
  wasHidden(path: string): boolean;
  /** It is one plain service from now on. */
  end(): void;
  /** The records that every list shows now, from each replica. A record that is in it before and after a run was shown all through the run. */
  listed(): Ids;
  /** The projects that some replica does not show: to a reader they are gone, and may come back. */
  hiddenProjects(): Set<string>;
  /** How many odd replies of each kind there were. */
  readonly met: Readonly<Record<string, number>>;
}

/** `lagMs` is the most virtual milliseconds that a replica is behind. */
export function createOddWorld(options: WorldOptions & { seed: number; lagMs: number }): OddWorld {
  const { seed, lagMs, ...others } = options;
  const random = createRandom(hash(seed, 0, 1));
  const world = createWorld({ ...others, seed });
  // The same seed gives the same events at the same moments, so this world is the other one some minutes ago.
  const replica = createWorld({ ...others, seed });
  /** Deletions by hand, which the replica has not seen yet. */
  let deletions: { resource: Resource; id: string; at: Date }[] = [];
  const odd = { replicaShare: 0, behindMs: 0, hasOldCounts: false, hiddenShare: 0, salt: 0 };
  const counts = new Map<Resource, { count: number; untilMs: number }>();
  const hidden = new Set<string>();
  const met = {
    "from a replica": 0,
    "count too low": 0,
    "count too high": 0,
    "cut by its count": 0,
    filtered: 0,
  };

  function follow(): void {
    const until = new Date(world.now().getTime() - odd.behindMs);
    for (const { resource, id, at } of deletions) {
      if (at > until) break;
      replica.advanceTo(at);
      replica.deleteRecord(resource, id);
    }
    deletions = deletions.filter(({ at }) => at > until);
    replica.advanceTo(until);
  }

  function isHidden(resource: Resource, id: string): boolean {
    return hash(odd.salt, RESOURCES.indexOf(resource), Number(id)) / 2 ** 32 < odd.hiddenShare;
  }

  /** The true count, or that of an earlier moment. */
  function countShown(resource: Resource, count: number): number {
    const nowMs = world.now().getTime();
    const cached = counts.get(resource);
    if (cached && nowMs < cached.untilMs) return odd.hasOldCounts ? cached.count : count;
    counts.set(resource, { count, untilMs: nowMs + COUNT_MS });
    return count;
  }

  function source(): Catalog {
    if (!random.chance(odd.replicaShare)) return world.catalog();
    met["from a replica"] += 1;
    return replica.catalog();
  }

  const catalog: Catalog = {
    ...world.catalog(),
    // Nothing is promised, because slices of one revision would differ.
    revision: async () => undefined,
    find: (resource, id) => source().find(resource, id),
    async list(resource, query) {
      const { records, totalCount } = await source().list(resource, query);
      if (query.filters.length > 0) return { records, totalCount };
      const count = countShown(resource, totalCount);
      const end = query.offset + query.limit;
      if (count < totalCount) met["count too low"] += 1;
      if (count > totalCount) met["count too high"] += 1;
      if (end >= count && end < totalCount) met["cut by its count"] += 1;
      const shown = records.filter(({ id }) => !isHidden(resource, id));
      for (const record of records) if (!shown.includes(record)) hidden.add(record.resource_uri);
      if (shown.length < records.length) met.filtered += 1;
      return { records: shown, totalCount: count };
    },
  };

  return {
    ...world,
    catalog: () => catalog,
    met,
    advance(ms) {
      world.advance(ms);
      follow();
    },
    advanceTo(moment) {
      world.advanceTo(moment);
      follow();
    },
    deleteRecord(resource, id) {
      deletions.push({ resource, id, at: world.now() });
      return world.deleteRecord(resource, id);
    },
    drawOddities() {
      odd.replicaShare = random.chance(0.5) ? random.pick([0.5, 1]) : 0;
      odd.behindMs = lagMs * random.pick([0.2, 1]);
      odd.hasOldCounts = random.chance(0.5);
      odd.hiddenShare = random.chance(0.25) ? random.pick(HIDDEN_SHARES) : 0;
      odd.salt = random.int(1_000_000);
    },
    hasReplica: () => odd.replicaShare > 0,
    wasHidden: (path) => hidden.has(path),
    oddities: () =>
      `${odd.replicaShare} of the replies ${odd.behindMs / 60_000} minutes old, ${odd.hasOldCounts ? "old" : "true"} counts, ${odd.hiddenShare} hidden`,
    end() {
      Object.assign(odd, { replicaShare: 0, hasOldCounts: false, hiddenShare: 0 });
    },
    listed() {
      const listed = {} as Ids;
      for (const resource of RESOURCES) {
        const behind = listedIn(replica, resource);
        const ids = [...listedIn(world, resource)];
        listed[resource] = new Set(ids.filter((id) => behind.has(id) && !isHidden(resource, id)));
      }
      return listed;
    },
    hiddenProjects: () => new Set([...hiddenProjects(world), ...hiddenProjects(replica)]),
  };
}

function listedIn(world: World, resource: Resource): Set<string> {
  const records = [...world.truth().records(resource)].filter(({ listed }) => listed);
  return new Set(records.map(({ record }) => record.id));
}

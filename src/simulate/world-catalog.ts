import { EM, HIGHLIGHTED, parseQuery, snippet } from "../mirror/content/search-contents.ts";
import {
  DECLARATIONS,
  type FileHitRecord,
  type FoundDoc,
  type FoundDocs,
  type RecordTypes,
  type Resource,
} from "../resources/resources.ts";
import type { Catalog, Filter, ListRequest, Slice } from "../serve/protocol/catalog.ts";
import { matchesFilter } from "../serve/protocol/filters.ts";
import { stateAt } from "./builds.ts";
import type { Micros } from "./local-dates.ts";
import { type FileRow, firstPlace, type RosterResource, type VersionRow } from "./population.ts";
import { createRandom, hash, STREAM } from "./random.ts";
import { filePath, type Records, subdomain, type WorldParts } from "./records.ts";
import type { WorldPages } from "./world-pages.ts";

/** A list without filters. Rows are found by their place, so each slice costs the same. */
interface Sequence<T> {
  length: number;
  at(place: number): T | undefined;
}

/** Answers the protocol from the state of a world at the moment of each request. */
export function createWorldCatalog(deps: {
  parts: WorldParts;
  records: Records;
  pages: WorldPages;
  now: () => Micros;
  /** Changes whenever the build list may have changed. Builds change by time alone. */
  buildRevision: () => number;
}): Catalog {
  const { parts, records, pages, now, buildRevision } = deps;
  const { settings, population, builds, lives } = parts;
  const { rosters, projects, listedProjects, versions } = population;
  const shuffled = settings.ties === "shuffled";
  let requests = 0;

  /** Rows that compare as equal may come in another order for each request. */
  function untied<T extends { id: number }>(
    ordered: readonly T[],
    groupAt?: (place: number) => [number, number],
  ): Sequence<T> {
    if (settings.ties === "by id") {
      const group = (row: T) => (groupAt ? groupAt(ordered.indexOf(row))[0] : 0);
      const sorted = [...ordered].sort((one, other) => group(one) - group(other) || one.id - other.id);
      return { length: sorted.length, at: (place) => sorted[place] };
    }
    if (!shuffled) return { length: ordered.length, at: (place) => ordered[place] };
    const random = createRandom(hash(settings.seed, STREAM.order, ++requests + 0.5e9));
    const draw = [random.next(), random.next()] as const;
    const steps = new Map<number, number>();
    return {
      length: ordered.length,
      at(place) {
        const [start, end] = groupAt ? groupAt(place) : [0, ordered.length];
        const size = end - start;
        const step = steps.get(size) ?? stepThrough(size, draw[0]);
        steps.set(size, step);
        return ordered[start + ((step * (place - start) + Math.floor(draw[1] * size)) % size)];
      },
    };
  }

  /** Without what the service hides. */
  const listedRoster = (resource: RosterResource) =>
    resource === "project" ? listedProjects : rosters[resource];

  function sequenceOf(resource: Resource): Sequence<unknown> {
    if (resource === "build") return { length: builds.liveCount, at: (place) => builds.rowAt(place) };
    if (resource === "version") return untied(versions.ordered, (place) => sameName(versions.ordered, place));
    const ordered: readonly { id: number }[] = listedRoster(resource).ordered;
    const { order, fields } = DECLARATIONS[resource];
    // Rows that the list orders by a unique field never compare as equal.
    const isUntied = order !== undefined && fields[order.by]?.unique === true;
    return isUntied ? { length: ordered.length, at: (place) => ordered[place] } : untied(ordered);
  }

  function fits(resource: Resource, row: unknown, filter: Filter): boolean {
    const [field, inner, ...rest] = filter.path;
    // Making the record of a build takes much longer than asking for these three.
    if (resource === "build" && rest.length === 0) {
      const build = row as number;
      const project = builds.project(build);
      if (field === "project" && inner === undefined) return String(project) === filter.value;
      if (field === "project" && inner === "slug") return projects.find(project)?.slug === filter.value;
      const life = () => lives.lifeOf(build, builds.createdAt(build), project);
      if (field === "state") return stateAt(life(), now()) === filter.value;
      if (field === "type") return life().type === filter.value;
    }
    return matchesFilter(resource, toRecord(resource, row), filter, findRecord);
  }

  /** Hidden projects too: builds are still filtered by their fields. */
  function findRecord(resource: Resource, id: string): RecordTypes[Resource] | undefined {
    const row = resource === "project" ? projects.find(Number(id)) : rowOf(resource, id);
    return row === undefined ? undefined : toRecord(resource, row);
  }

  /** Only ids as the service writes them are ids: not `007`, and not `1e3`. */
  function rowOf(resource: Resource, text: string): unknown {
    if (!/^(0|[1-9]\d*)$/.test(text)) return undefined;
    const id = Number(text);
    if (resource === "build") return builds.rowOf(id);
    return listedRoster(resource).find(id);
  }

  function toRecord<R extends Resource>(resource: R, row: unknown): RecordTypes[R];
  function toRecord(resource: Resource, row: unknown): RecordTypes[Resource] {
    return resource === "build" ? records.build(row as number, now()) : records[resource](row as never);
  }

  function revisionOf(resource: Resource): string | undefined {
    if (shuffled) return undefined;
    // The texts of a build contain the slugs of its project and version, which never change.
    if (resource === "build") return String(buildRevision());
    const { revision } = rosters[resource];
    const isEmbedding = Object.values(DECLARATIONS[resource].fields).some(({ kind }) => kind === "embedded");
    return isEmbedding ? `${revision}.${projects.revision}` : String(revision);
  }

  return {
    async list<R extends Resource>(resource: R, query: ListRequest): Promise<Slice<RecordTypes[R]>> {
      const revision = revisionOf(resource);
      const sequence = sequenceOf(resource);
      const end = query.offset + query.limit;
      const found: RecordTypes[R][] = [];
      if (query.filters.length === 0) {
        for (let place = query.offset; place < Math.min(end, sequence.length); place++) {
          found.push(toRecord(resource, sequence.at(place)));
        }
        return { records: found, totalCount: sequence.length, revision };
      }
      let totalCount = 0;
      for (let place = 0; place < sequence.length; place++) {
        const row = sequence.at(place);
        if (!query.filters.every((filter) => fits(resource, row, filter))) continue;
        if (totalCount >= query.offset && totalCount < end) found.push(toRecord(resource, row));
        totalCount++;
      }
      return { records: found, totalCount, revision };
    },

    async find<R extends Resource>(resource: R, id: string): Promise<RecordTypes[R] | undefined> {
      const row = rowOf(resource, id);
      return row === undefined ? undefined : toRecord(resource, row);
    },

    ...createWorldSearch(parts, records, pages),

    async revision(resource) {
      return revisionOf(resource);
    },
  };
}

/** A step, coprime to `size`, that visits each place of a circle once. */
function stepThrough(size: number, draw: number): number {
  let step = Math.max(1, Math.floor(draw * size));
  while (commonDivisor(step, size) !== 1) step++;
  return step;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** The range of versions around a place that have the same `verbose_name`. Names are in descending order. */
function sameName(ordered: readonly VersionRow[], place: number): [number, number] {
  const name = ordered[place]?.verboseName ?? "";
  return [
    firstPlace(ordered, ({ verboseName }) => verboseName <= name),
    firstPlace(ordered, ({ verboseName }) => verboseName < name),
  ];
}

/** The interface has no limit for searches (`docs/interface.md`, "Searches"). Ours is the page size of lists. */
const MAX_HITS = 20;

/** The three searches by whole words, ignoring case. All words of the query must occur. */
function createWorldSearch(
  { settings: { seed }, population }: WorldParts,
  records: Records,
  pages: WorldPages,
) {
  /** The files whose page has all of the words, of which there must be one. */
  function* matches(words: readonly string[], rows: Iterable<FileRow>): Iterable<[FileRow, string]> {
    const patterns = words.map(wordPattern);
    for (const row of patterns.length === 0 ? [] : rows) {
      const text = pages.text(row);
      if (patterns.every((word) => word.test(text))) yield [row, text];
    }
  }

  return {
    async searchFiles({ q, page }: { q: string; page: number }): Promise<FileHitRecord[]> {
      const words = wordsIn(q);
      let before = (page - 1) * MAX_HITS;
      const hits: FileHitRecord[] = [];
      for (const [row, text] of matches(words, population.files.ordered)) {
        if (before-- > 0) continue;
        hits.push({ ...records.file(row), text: snippet(text, words, HIGHLIGHTED) });
        if (hits.length === MAX_HITS) break;
      }
      return hits;
    },

    async searchAnchors(q: string): Promise<string[]> {
      const words = wordsIn(q).map(wordPattern);
      const found: string[] = [];
      if (words.length === 0) return found;
      for (const row of population.files.ordered) {
        const path = filePath(seed, row.id);
        const anchor = pages.heading(row);
        if (!words.every((word) => word.test(anchor))) continue;
        // The recorded service has the same fault, a missing colon. A client must cope with it here too.
        const host = subdomain(row.version.project.slug).replace("http://", "http//");
        found.push(`${host}en/${row.version.slug}/${path}#${anchor}`);
        if (found.length === MAX_HITS) break;
      }
      return found;
    },

    async searchDocs(query: { project: string; version: string; q: string }): Promise<FoundDocs | undefined> {
      const project = population.listedProjects.ordered.find((row) => row.slug === query.project);
      if (!project) return undefined;
      const words = wordsIn(query.q);
      const hits: FoundDoc[] = [];
      const rows = population.files.ordered.filter(
        ({ version }) => version.project === project && version.slug === query.version,
      );
      for (const [row, text] of matches(words, rows)) {
        const path = filePath(seed, row.id);
        const bare = path.replace(/\.html$/, "");
        hits.push({
          link: `${subdomain(project.slug)}en/${query.version}/${bare}`,
          path: bare,
          project: project.slug,
          title: path.slice(path.lastIndexOf("/") + 1),
          version: query.version,
          content: [snippet(text, words, EM)],
        });
      }
      // The score is only shown and orders nothing: the fewer hits, the higher the score of each.
      const maxScore = hits.length === 0 ? null : Number((1 / (1 + Math.log1p(hits.length))).toFixed(8));
      return { total: hits.length, maxScore, hits: hits.slice(0, MAX_HITS) };
    },
  };
}

function wordsIn(q: string): string[] {
  return parseQuery(q)?.words ?? [];
}

/** A folded word holds letters, marks and digits alone, so none of it has a meaning in a pattern. */
function wordPattern(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, "iu");
}

import {
  type FoundDoc,
  type ProjectRecord,
  RESOURCES,
  type RecordTypes,
  type Resource,
  type VersionRecord,
} from "../../../src/resources/resources.ts";
import type { Catalog, Filter } from "../../../src/serve/protocol/catalog.ts";
import { matchesFilter } from "../../../src/serve/protocol/filters.ts";
import type { Exchange } from "../../support/recorded-exchanges.ts";

type Hit = {
  fields: { link: string } & Record<"path" | "project" | "title" | "version", [string]>;
  highlight: { content: string[] };
};
type RecordedHits = { total: number; max_score: number | null; hits: Hit[] };

/** A catalog over what was recorded: the lists' records in their order; searches know the recorded questions. */
export function createRecordedCatalog(exchanges: readonly Exchange[]): Catalog {
  const records = new Map<Resource, RecordTypes[Resource][]>();
  const replies = new Map(exchanges.map(({ path, body }) => [path, body]));
  const replyTo = (path: string) => JSON.parse(replies.get(path) ?? "");
  for (const resource of RESOURCES) {
    const listed: RecordTypes[Resource][] = [];
    for (let next: string = `/api/v1/${resource}/?format=json&limit=100`; next; ) {
      const { meta, objects } = replyTo(next);
      listed.push(...objects);
      next = meta.next;
    }
    records.set(resource, listed);
  }
  const find = (resource: Resource, id: string) =>
    records.get(resource)?.find((record) => record.id === id) ?? embedded.get(id);
  // Some projects are hidden from their list, and versions still embed them.
  const embedded = new Map<string, ProjectRecord>();
  for (const record of [...(records.get("version") ?? []), ...(records.get("file") ?? [])]) {
    const { project } = record as VersionRecord;
    embedded.set(project.id, project);
  }
  const fits = (resource: Resource, record: object, filter: Filter) =>
    matchesFilter(resource, record, filter, find);

  return {
    async list<R extends Resource>(resource: R, query: Parameters<Catalog["list"]>[1]) {
      const all = records.get(resource) as RecordTypes[R][];
      const fitting = all.filter((record) => query.filters.every((filter) => fits(resource, record, filter)));
      const end = query.offset + query.limit;
      return { records: fitting.slice(query.offset, end), totalCount: fitting.length };
    },
    async find<R extends Resource>(resource: R, id: string) {
      return (records.get(resource) as RecordTypes[R][]).find((record) => record.id === id);
    },
    searchFiles: async ({ q }) => replyTo(`/api/v1/file/search/?q=${q}`).objects,
    searchAnchors: async (q) => replyTo(`/api/v1/file/anchor/?q=${q}`).objects,
    async searchDocs({ project, version, q }) {
      const body = replies.get(`/api/v2/docsearch/?project=${project}&version=${version}&q=${q}`);
      const found: { results?: { hits: RecordedHits } } = JSON.parse(body ?? "{}");
      if (!found.results) return undefined;
      const { total, max_score, hits } = found.results.hits;
      const docs = hits.map(({ fields, highlight: { content } }): FoundDoc => {
        const [path, project] = [fields.path[0], fields.project[0]];
        return {
          link: fields.link,
          path,
          project,
          title: fields.title[0],
          version: fields.version[0],
          content,
        };
      });
      return { total, maxScore: max_score, hits: docs };
    },
  };
}

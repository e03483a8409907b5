/**
 * The catalog of the protocol, read from the mirror: lists in their order, details, searches. `revisions.ts` says whether a
 * reply is still right without reading it.
 */
import type { SQL } from "drizzle-orm";
import { findAnchors, findDocs, findFiles } from "../../mirror/content/search-contents.ts";
import type { RecordTable } from "../../mirror/load/tables.ts";
import type { FileHitRecord } from "../../resources/file.ts";
import { isStorableId } from "../../resources/record-id.ts";
import type { RecordTypes, Resource } from "../../resources/resources.ts";
import type { MirrorReader } from "../../store/connection/mirror-reader.ts";
import { compose } from "../../store/connection/run-statement.ts";
import type { AnySql } from "../../store/connection/sql.ts";
import type { Catalog, ListRequest, Slice } from "../protocol/catalog.ts";
import { NotReadyError } from "../protocol/refusal.ts";
import { createReadiness } from "./list-readiness.ts";
import { createListSlices, isShown } from "./list-slice.ts";
import { readRecords } from "./read-records.ts";
import { readRevision } from "./revisions.ts";

/**
 * Answers the protocol from the mirror's tables, each reply from one snapshot. Deleted records are absent, and
 * so is what upstream's lists do not show. A list that no walk has read to its end yet throws `NotReadyError`.
 * The details of hidden projects are absent too; other hidden records are found by their id.
 */
export function createMirrorCatalog(mirror: MirrorReader): Catalog {
  const slices = createListSlices();
  const assertReady = createReadiness();

  return {
    list<R extends Resource>(resource: R, query: ListRequest): Promise<Slice<RecordTypes[R]>> {
      return mirror.snapshot(async (tx) => {
        await assertReady(tx, resource);
        const { revision } = await readRevision(tx, resource);
        const { ids, totalCount } = await slices(tx, resource, query, revision);
        const records = await readRecords(tx, resource, ids);
        return { records: records as unknown as RecordTypes[R][], totalCount, revision };
      });
    },

    async find<R extends Resource>(resource: R, id: string): Promise<RecordTypes[R] | undefined> {
      if (!isStorableId(id)) return undefined;
      // Its absence says that there is no such record only when the list is known. That is asked first: a walk
      // that ends in between may have brought the record.
      const unready = await mirror.read((sql) => assertReady(sql, resource)).catch((error: unknown) => error);
      const find = (sql: AnySql) => readRecords(sql, resource, [id], (r) => isFound(resource, r));
      // One statement reads a user or a build. Others take several, which must see one moment.
      const isWhole = resource === "user" || resource === "build";
      const [record] = await (isWhole ? mirror.read(find) : mirror.snapshot(find));
      if (record === undefined) {
        if (unready !== undefined) throw unready;
        await mirror.read((sql) => assertNotQuarantined(sql, resource, id));
      }
      return record as unknown as RecordTypes[R] | undefined;
    },

    async searchFiles(query) {
      const { hits } = await mirror.read((sql) => findFiles(sql, query));
      if (hits.length === 0) return [];
      const records = await mirror.snapshot((tx) =>
        readRecords(
          tx,
          "file",
          hits.map(({ fileId }) => fileId),
        ),
      );
      const byId = new Map(records.map((record) => [String(record.id), record]));
      return hits.flatMap(({ fileId, text }) => {
        const record = byId.get(fileId);
        return record ? [{ ...record, text } as unknown as FileHitRecord] : [];
      });
    },
    searchAnchors: (q) => mirror.read((sql) => findAnchors(sql, { q })),
    searchDocs: (query) => mirror.read((sql) => findDocs(sql, query)),

    schema: (resource) =>
      mirror.read(async (sql) => {
        const [stored] = await sql<{ body: unknown }[]>`
          select body from sync.upstream_schemas where resource = ${resource} order by run_id desc limit 1`;
        return stored?.body;
      }),

    basePath: () =>
      mirror.read(async (sql) => {
        const [service] = await sql<{ base_url: string }[]>`select base_url from sync.service`;
        return service === undefined ? "" : new URL(service.base_url).pathname.replace(/\/$/, "");
      }),

    revision: (resource) => mirror.read(async (sql) => (await readRevision(sql, resource)).revision),

    lastModified: (resource, settledMs = Number.NEGATIVE_INFINITY) =>
      mirror.read(async (sql) => {
        const { changedAt, ageMs } = await readRevision(sql, resource);
        return changedAt === null || ageMs < settledMs ? undefined : changedAt;
      }),
  };
}

/** The condition that a row is found by its id. */
function isFound(resource: Resource, r: RecordTable): SQL {
  const isThere = compose`${r.deleted_at} is null`;
  return resource === "project" ? compose`${isThere} and ${isShown(resource, r)}` : isThere;
}

/** A record that the service has and the mirror could not store is not absent. Throws `NotReadyError`. */
async function assertNotQuarantined(sql: AnySql, resource: Resource, id: string): Promise<void> {
  const found = await sql`
    select from sync.quarantine where resource = ${resource} and record_id = ${id} and resolved_at is null limit 1`;
  if (found.length > 0) throw new NotReadyError(`The ${resource} ${id} could not be stored yet`);
}

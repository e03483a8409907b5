import type { SQL } from "drizzle-orm";
import { UnexpectedShapeError, UpstreamError } from "../../base/errors.ts";
import { ownFront, parseResourceUri, recordId } from "../../resources/record-id.ts";
import { REFERENCE_FIELDS, type Resource } from "../../resources/resources.ts";
import { compose, oneRow, piece, runStatement, type Sql, statement } from "../../store/connection/sql.ts";
import { aboutList } from "../api/client.ts";
import { isGone } from "../api/fates.ts";
import { askInBatches, fetchDetail } from "../api/fetch-detail.ts";
import type { RunParts } from "../load/run-parts.ts";
import { RECORD_TABLES } from "../load/tables.ts";

const MARK_GONE = statement("mark_gone", import.meta.url);
const COUNT_UNRESOLVED = statement<Omit<RepairedReferences, "resolved">>("count_unresolved", import.meta.url);
const DANGLING_TARGETS = statement<DanglingTarget>("dangling_targets", import.meta.url);
const NAMED_BY_SLUG = piece("named_by_slug", import.meta.url);
const NAMED_BY_URI = piece("named_by_uri", import.meta.url);
const RESOLVE_WAY = piece("resolve_way", import.meta.url);

/** The most details requested in one run. The next run requests the rest. */
const MAX_DETAILS = 2000;
const BATCH = 100;
/** A gone record is not requested again for a week. */
const GONE_FOR_MS = 7 * 86_400_000;

type ReferenceParts = Omit<RunParts, "runId" | "startedAt">;

type DanglingTarget = { resource: Resource; key: string };

interface RepairedReferences {
  resolved: number;
  unresolved: number;
  /** Records that were not requested, or gave no usable answer. They wait until the others had their turn. */
  unsettled: number;
}

/**
 * Turns URI references into keys: sets those whose records are here, requests the details of the others, loads what
 * it finds, and stores why the rest stays `unresolved`. Requests nothing once the host is lost.
 */
export async function repairReferences(run: ReferenceParts): Promise<RepairedReferences> {
  const { sql, clock, patience } = run;
  const now = clock.now();
  const goneBefore = new Date(now.getTime() - GONE_FOR_MS).toISOString();
  const count = () =>
    patience("count unresolved references", () =>
      oneRow(COUNT_UNRESOLVED(sql, { goneBefore, now: clock.now().toISOString() })),
    );
  let resolved = 0;
  /** Resolves what can be resolved, and counts the rest. */
  const resolve = async () => {
    const left = await count();
    if (left.unresolved === 0) return left;
    const found = await patience("resolve references", () => resolveReferences(sql));
    resolved += found;
    return found === 0 ? left : count();
  };
  const left = await resolve();
  if (left.unsettled === 0) return { resolved, ...left };

  await patience("mark gone references", () => MARK_GONE(sql, { goneBefore }));
  const targets = await patience("find references to resolve", () =>
    DANGLING_TARGETS(sql, { goneBefore, now: now.toISOString(), most: MAX_DETAILS }),
  );
  const requested = await askInBatches(run, targets, BATCH, async (batch) => {
    await Promise.all(batch.map((target) => fetchTarget(run, target)));
    const at = clock.now().toISOString();
    // With any result, so that they come after those that were not requested.
    await patience(
      "store which references were requested",
      () => sql`
        update mirror.unresolved_references as reference set asked_at = ${at}::timestamptz
        from jsonb_to_recordset(${JSON.stringify(batch)}::text::jsonb) as asked (resource text, key text)
        where reference.target_resource = asked.resource and reference.target_key = asked.key`,
    );
  });
  return { ...(await (requested > 0 ? resolve() : count())), resolved };
}

async function fetchTarget(run: ReferenceParts, { resource, key }: DanglingTarget): Promise<void> {
  const { sql, loader, patience } = run;
  const { client, log } = aboutList(run, resource);
  try {
    const detail = await fetchDetail(client, resource, key, { kind: "references" });
    if (recordId(detail.record) !== key && !isNamedBy(detail.record, { resource, key }, client.baseUrl))
      throw new UnexpectedShapeError(`another ${resource} came for '${key}'`, { url: detail.request });
    const pages = [{ ...detail, records: [detail.record] }];
    await loader.load({ resource, pages, source: "detail" });
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // A list is final, and so is another record. A reply that could not be read at all (it has a cause) is the error
    // page of a proxy, which is temporary.
    const isNoRecord = error instanceof UnexpectedShapeError && error.cause === undefined;
    if (isGone(error) || isNoRecord) {
      const checkedAt = (isGone(error) ? error.askedAt : undefined) ?? run.clock.now();
      await patience(
        "store that a record is gone",
        () => sql`
          update mirror.unresolved_references set status = 'gone', checked_at = ${checkedAt.toISOString()}::timestamptz
          where target_resource = ${resource} and target_key = ${key}`,
      );
      return;
    }
    log.warn({ key, error: error.message }, "requesting a referenced record failed");
  }
}

/** True where the record has the key as its slug, or in its own `resource_uri`. */
function isNamedBy(record: unknown, { resource, key }: DanglingTarget, baseUrl: URL): boolean {
  const { slug, resource_uri: uri } = record as { slug?: unknown; resource_uri?: unknown };
  if (resource === "project" && slug === key) return true;
  const front = ownFront(record as Record<string, unknown>, resource);
  const own = typeof uri === "string" ? parseResourceUri(uri, baseUrl, front) : null;
  return own?.kind === "record" && own.resource === resource && own.key === key;
}

const fillKey = (resource: Resource, key: string): SQL =>
  compose`update ${RECORD_TABLES[resource].table} as owner set ${compose.identifier(key)} = resolved.id
    from resolved where owner.id = resolved.record_id`;

const FILL_USERS = compose`update mirror.project_users as owner set user_id = resolved.id
    from resolved where owner.project_id = resolved.record_id and owner.position = resolved.position`;

/** The ways in which the references of a field name records, by id first: the records, the condition, and what sets the key. */
const WAYS = REFERENCE_FIELDS.flatMap(({ resource, field, kind, target }) => {
  // Only the administrators of a project are a list of references.
  const fill = kind === "uris" ? FILL_USERS : fillKey(resource, `${field}_id`);
  const records = RECORD_TABLES[target].table;
  const way = (named: unknown, isSame: SQL) => {
    const isNamed = compose`
      reference.resource = ${resource} and reference.field = ${field} and reference.target_resource = ${target} and ${isSame}`;
    return { named, isNamed, fill };
  };
  const byId = way(records, compose`named.id = reference.target_key`);
  const bySlug = way(compose`(${NAMED_BY_SLUG()})`, compose`named.slug = reference.target_key`);
  const byUri = NAMED_BY_URI({ path: `/api/v1/${target}/`, target, records });
  const byOwnUri = way(compose`(${byUri})`, compose`named.uri = reference.uri`);
  return target === "project" ? [byId, byOwnUri, bySlug] : [byId, byOwnUri];
});

const FOUND_WAYS = compose.join(
  WAYS.map(
    ({ named, isNamed }, way) => compose`
      select ${way}::int as way
      where exists (select from mirror.unresolved_references as reference, ${named} as named where ${isNamed})`,
  ),
  compose` union all `,
);

/** Sets every key whose record is here now. Returns the number of resolved references. Safe to repeat. */
export async function resolveReferences(sql: Sql): Promise<number> {
  const found = await runStatement<{ way: number }>(sql, FOUND_WAYS);
  if (found.length === 0) return 0;
  const ways = found.map(({ way }) => way);
  // Many rows come and go at once. With old statistics the planner would pick a nested loop below.
  await sql`analyze mirror.unresolved_references`;
  let resolved = 0;
  for (const way of WAYS.filter((_, place) => ways.includes(place))) {
    const { count } = await runStatement(sql, RESOLVE_WAY(way));
    resolved += count;
  }
  return resolved;
}

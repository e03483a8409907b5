import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { UnexpectedShapeError, UpstreamError } from "../../base/errors.ts";
import { ownFront, parseResourceUri, recordId } from "../../resources/record-id.ts";
import { REFERENCE_FIELDS, type Resource } from "../../resources/resources.ts";
import { compose, composed, nameOf, runStatement, type Sql, statement } from "../../store/connection/sql.ts";
import { projects, projectUsers, unresolvedReferences } from "../../store/schema/index.ts";
import { aboutList } from "../api/client.ts";
import { isGone } from "../api/fates.ts";
import { askInBatches, fetchDetail } from "../api/fetch-detail.ts";
import type { RunParts } from "../load/run-parts.ts";
import { columnOf, RECORD_TABLES, recordsAs } from "../load/tables.ts";

const MARK_GONE = statement("mark_gone", import.meta.url);

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
  // A gone record is requested again when it was checked before `goneBefore`, or later than now by a wrong clock.
  const isDueAt = (at: Date) => sql`
    target_key is not null and (status = 'pending'
      or status = 'gone' and checked_at not between ${goneBefore}::timestamptz and ${at.toISOString()}::timestamptz)`;
  const count = async () => {
    const [left] = await patience(
      "count unresolved references",
      () => sql<Omit<RepairedReferences, "resolved">[]>`
        select count(*) as unresolved,
          count(distinct (target_resource, target_key)) filter (where ${isDueAt(clock.now())}) as unsettled
        from mirror.unresolved_references`,
    );
    return left ?? { unresolved: 0, unsettled: 0 };
  };
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
  // First those that were never requested, then the longest ago. A later request than now comes from a wrong clock.
  const targets = await patience(
    "find references to resolve",
    () => sql<DanglingTarget[]>`
      select target_resource as resource, target_key as key
      from mirror.unresolved_references where ${isDueAt(now)}
      group by target_resource, target_key
      order by max(asked_at) filter (where asked_at <= ${now.toISOString()}::timestamptz) nulls first,
        target_resource, target_key
      limit ${MAX_DETAILS}`,
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

const reference = alias(unresolvedReferences, "reference");

/**
 * The projects that references name by their slugs. A number is an id, even if another project has it as its slug. Where several have
 * a slug, one that still exists is used.
 */
const BY_SLUG = compose`
  select distinct on (${projects.slug}) ${projects.slug}, ${projects.id} from ${projects}
  where ${projects.slug} in (
    select ${unresolvedReferences.target_key} from ${unresolvedReferences}
    where ${unresolvedReferences.target_resource} = 'project' and ${unresolvedReferences.target_key} !~ '^[0-9]+$')
  order by ${projects.slug}, ${projects.deleted_at} nulls first, ${projects.id}`;

/**
 * The records that references name by their own `resource_uri`, which may have a name in the place of the id: as it stands in the
 * reference, or in its short form. Where several have one, one that still exists is used.
 */
function byUri(target: Resource): SQL {
  const record = recordsAs(target, "record");
  const uri = columnOf(record, "resource_uri");
  return compose`
    select distinct on (wanted.uri) wanted.uri, ${record.id} from (
      select distinct uri, unnest(array[uri, ${`/api/v1/${target}/`} || target_key || '/']) as own
      from ${unresolvedReferences} where target_resource = ${target}
    ) as wanted join ${RECORD_TABLES[target].table} as ${record} on ${uri} = wanted.own
    order by wanted.uri, ${record.deleted_at} nulls first, ${record.id}`;
}

/** The ways in which the references of a field name records, by id first: the records, the condition, and what sets the key. */
const WAYS = REFERENCE_FIELDS.flatMap(({ resource, field, kind, target }) => {
  // Only the administrators of a project are a list of references.
  const fill = kind === "uris" ? fillUsers() : fillKey(resource, `${field}_id`);
  const isOfField = compose`
    ${reference.resource} = ${resource} and ${reference.field} = ${field} and ${reference.target_resource} = ${target}`;
  const byId = {
    named: RECORD_TABLES[target].table,
    isNamed: compose`${isOfField} and named.id = ${reference.target_key}`,
    fill,
  };
  const bySlug = {
    named: compose`(${BY_SLUG})`,
    isNamed: compose`${isOfField} and named.slug = ${reference.target_key}`,
    fill,
  };
  const byOwnUri = {
    named: compose`(${byUri(target)})`,
    isNamed: compose`${isOfField} and named.uri = ${reference.uri}`,
    fill,
  };
  return target === "project" ? [byId, byOwnUri, bySlug] : [byId, byOwnUri];
});

const FOUND_WAYS = compose.join(
  WAYS.map(
    ({ named, isNamed }, way) => compose`
      select ${way}::int as way
      where exists (select from ${unresolvedReferences} as ${reference}, ${named} as named where ${isNamed})`,
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
  for (const { named, isNamed, fill } of WAYS.filter((_, way) => ways.includes(way))) {
    const { count } = await composed(sql)`
      with resolved as (
        delete from ${unresolvedReferences} as ${reference} using ${named} as named where ${isNamed}
        returning ${reference.record_id}, ${reference.position}, named.id
      )
      ${fill}`;
    resolved += count;
  }
  return resolved;
}

function fillKey(resource: Resource, key: string): SQL {
  const owner = recordsAs(resource, "owner");
  return compose`update ${RECORD_TABLES[resource].table} as ${owner} set ${nameOf(columnOf(owner, key))} = resolved.id
    from resolved where ${owner.id} = resolved.record_id`;
}

function fillUsers(): SQL {
  return compose`update ${projectUsers} set ${nameOf(projectUsers.user_id)} = resolved.id
    from resolved where ${projectUsers.project_id} = resolved.record_id and ${projectUsers.position} = resolved.position`;
}

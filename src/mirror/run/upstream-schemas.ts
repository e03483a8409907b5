import { hash } from "node:crypto";
import { ageMs } from "../../base/clock.ts";
import { UpstreamError } from "../../base/errors.ts";
import { toJson } from "../../resources/parse-json.ts";
import { fieldsOf, type Resource, type RootEndpoints } from "../../resources/resources.ts";
import { type Sql, withTransaction } from "../../store/connection/sql.ts";
import { aboutList, type Client } from "../api/client.ts";
import type { ListFacts } from "../lists/plan.ts";
import { isDataFault } from "../load/quarantine.ts";
import type { RunParts } from "../load/run-parts.ts";
import { cleanJson } from "../normalize/clean-text.ts";

/** More than any real schema has. The rest of a hostile reply is ignored. */
const MAX_FIELDS = 1000;
const MAX_NAME_LENGTH = 200;
/** A nightly run may start a few hours earlier than the one before. */
const DAILY_MS = 20 * 3_600_000;

type SchemaParts = Pick<RunParts, "sql" | "client" | "log" | "patience" | "runId" | "startedAt">;

/** Asks once a day. Stores each answer once by its hash, and what differs in `sync.drift`. A failure is only logged. */
export async function recordUpstreamSchemas(
  run: SchemaParts,
  root: RootEndpoints,
  lists: readonly Pick<ListFacts, "resource" | "schemaAskedAt">[],
): Promise<void> {
  const endpoints = Object.entries(root) as [Resource, { schema: string }][];
  const askedAt = new Map(lists.map((list) => [list.resource, list.schemaAskedAt]));
  const due = endpoints.filter(
    ([resource]) => ageMs(askedAt.get(resource) ?? null, run.startedAt) > DAILY_MS,
  );
  await Promise.all(
    due.map(([resource, { schema }]) => recordSchema(aboutList(run, resource), resource, schema)),
  );
}

async function recordSchema(run: SchemaParts, resource: Resource, path: string): Promise<void> {
  const { client, log, patience, sql } = run;
  try {
    const reply = await client.fetchJson(path, { kind: "schemas", parse: (value) => value });
    const body = cleanJson(reply.value, { nul: 0 });
    const facts = { runId: run.runId, observedAt: run.startedAt.toISOString() };
    await patience(`store the schema of ${resource}s`, () => storeSchema(sql, resource, body, facts));
  } catch (error) {
    // A RangeError: the reply is nested too deep. A data fault: Postgres cannot store it.
    const isOfReply = error instanceof UpstreamError || error instanceof RangeError || isDataFault(error);
    if (!isOfReply) throw error;
    log.warn({ error: (error as Error).message }, "reading a schema failed");
  }
}

async function storeSchema(
  sql: Sql,
  resource: Resource,
  body: unknown,
  facts: { runId: number; observedAt: string },
): Promise<void> {
  const fields = readFields(body);
  const bodyHash = hash("sha256", toJson([...fields].sort()), "hex");
  await withTransaction(sql, async (tx) => {
    await tx`update sync.upstream_schemas set asked_at = ${facts.observedAt} where resource = ${resource}`;
    const [previous] = await tx<{ body: unknown; same: boolean }[]>`
      select body, body_hash = decode(${bodyHash}, 'hex') as same from sync.upstream_schemas
      where resource = ${resource} order by run_id desc limit 1`;
    if (previous?.same) return;
    await tx`
      insert into sync.upstream_schemas (resource, body_hash, body, first_seen_at, run_id, asked_at)
      values (${resource}, decode(${bodyHash}, 'hex'), ${toJson(body)}::text::jsonb, ${facts.observedAt}, ${facts.runId}, ${facts.observedAt})
      on conflict (resource, body_hash) do update set first_seen_at = excluded.first_seen_at, run_id = excluded.run_id`;
    if (!previous) return;
    for (const drift of compareFields(readFields(previous.body), fields)) {
      await tx`
        insert into sync.drift (run_id, resource, field, kind, detail, observed_at)
        values (${facts.runId}, ${resource}, ${drift.field}, ${drift.kind}, ${drift.detail}, ${facts.observedAt})`;
    }
  });
}

/** The differences of a schema's fields from the documented ones. */
interface SchemaDifferences {
  unknown: string[];
  missing: string[];
}

/** Null for a schema without fields. Throws `UpstreamError`. */
export async function compareUpstreamSchema(
  client: Client,
  resource: Resource,
  path: string,
): Promise<SchemaDifferences | null> {
  const reply = await client.fetchJson(path, { parse: (value) => value });
  const fields = readFields(reply.value);
  if (fields.size === 0) return null;
  const documented = fieldsOf(resource).map(([name]) => name);
  return {
    unknown: [...fields.keys()].filter((field) => !documented.includes(field)),
    missing: documented.filter((field) => !fields.has(field)),
  };
}

/** The field names and types of a tastypie schema; empty when the reply has another form. */
function readFields(body: unknown): Map<string, string> {
  const fields = (body as { fields?: unknown } | null)?.fields;
  if (typeof fields !== "object" || fields === null) return new Map();
  const entries = Object.entries(fields as Record<string, { type?: unknown } | null>).slice(0, MAX_FIELDS);
  return new Map(
    entries.map(([name, spec]) => {
      const type = typeof spec?.type === "string" ? spec.type : "unknown";
      return [name.slice(0, MAX_NAME_LENGTH), type.slice(0, MAX_NAME_LENGTH)];
    }),
  );
}

function compareFields(before: Map<string, string>, after: Map<string, string>) {
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((field) => {
    const [was, is] = [before.get(field), after.get(field)];
    if (was === is) return [];
    if (was === undefined) return [{ field, kind: "appeared", detail: `type ${is}, in the schema` }];
    if (is === undefined) return [{ field, kind: "vanished", detail: `type ${was}, in the schema` }];
    return [{ field, kind: "type_changed", detail: `from ${was} to ${is}, in the schema` }];
  });
}

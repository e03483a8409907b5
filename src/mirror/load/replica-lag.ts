/**
 * A service may answer from several replicas, some of them behind. A reply asked for at T, from a replica that is at
 * most L behind, shows a state not older than T - L. If the record was sighted before that state, a reply that lacks
 * it proves that it was deleted since; if not, it proves nothing. A list and a detail from one replica are one proof,
 * not two. All moments are of this machine's clock.
 */
import type { Resource } from "../../resources/resources.ts";
import { type Sql, statement } from "../../store/connection/sql.ts";
import type { DetailAnswer } from "../api/fetch-detail.ts";
import type { Observation } from "./compare-records.ts";
import type { LoadablePage } from "./prepare-batch.ts";
import type { RunParts } from "./run-parts.ts";
import { recordStatement } from "./tables.ts";

const NEWER_BUILD = statement<{ id: string }>("newer_build", import.meta.url);
const SIGHTED_WITHIN = recordStatement<{ id: string }>("sighted_within", import.meta.url);

interface LagFacts {
  resource: Resource;
  runId: number;
  /** The most milliseconds that a replica may be behind. 0: the service has none. */
  replicaLagMs: number;
}

/** A record of which the service answered that it is gone, and the reply that said so. */
type GoneSighting = Observation & { id: string };

/** Loads the records that answered. Returns those that are gone, and the ids of gone ones that were sighted within the lag. */
export async function loadAnswers(
  { sql, loader, patience, runId }: RunParts,
  { resource, replicaLagMs }: Omit<LagFacts, "runId">,
  answers: readonly { id: string; answer: DetailAnswer }[],
): Promise<{ gone: GoneSighting[]; waiting: Set<string> }> {
  const pages: LoadablePage[] = [];
  const gone: GoneSighting[] = [];
  for (const { id, answer } of answers) {
    if (answer.kind === "found") pages.push({ ...answer.detail, records: [answer.detail.record] });
    if (answer.kind !== "gone") continue;
    const { request, askedAt, observedAt } = answer;
    gone.push({ id, request, askedAt: askedAt.toISOString(), observedAt: observedAt.toISOString() });
  }
  if (pages.length > 0) await loader.load({ resource, pages, source: "detail" });
  const waiting = await patience("find the last sightings", () =>
    findSightedWithin(sql, { resource, runId, replicaLagMs }, gone),
  );
  return { gone: gone.filter(({ id }) => !waiting.has(id)), waiting };
}

/**
 * The ids of records that were sighted within the lag. A sighting of an earlier run that is later than the reply was dated
 * by a clock that was put back since: then the lag counts from when a walk first missed the record.
 */
async function findSightedWithin(
  sql: Sql,
  { resource, runId, replicaLagMs }: LagFacts,
  gone: readonly GoneSighting[],
): Promise<Set<string>> {
  if (replicaLagMs === 0 || gone.length === 0) return new Set();
  const rows = await SIGHTED_WITHIN(sql, resource, {
    gone: JSON.stringify(gone),
    runId,
    replicaLagMs,
  });
  return new Set(rows.map(({ id }) => id));
}

/** The newest builds that are looked at. Those that upstream dated in the future stay on top. */
const NEWEST = 50;

/** A build that was sighted within the lag by an earlier run, and is newer than this first page: its replica is behind. */
export async function findNewerBuild(
  sql: Sql,
  { runId, replicaLagMs }: Omit<LagFacts, "resource">,
  page: { ids: readonly string[]; askedAt: Date },
): Promise<string | null> {
  if (replicaLagMs === 0) return null;
  const askedAt = page.askedAt.toISOString();
  const [row] = await NEWER_BUILD(sql, { newest: NEWEST, runId, askedAt, replicaLagMs, ids: page.ids });
  return row?.id ?? null;
}

/**
 * One look at a record: what the service shows, and what the mirror would serve at that moment. By the hash of what was read
 * a wrong record is known from one that changed. It cannot where the record is missing here, or was never read right: that has changed at
 * first, and is wrong where a later look, after the whole list was read again, finds both sides as they were.
 */
import { UpstreamError } from "../../base/errors.ts";
import { firstRequest, requestText } from "../../resources/page-request.ts";
import { toJson } from "../../resources/parse-json.ts";
import { recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import { type Sql, statement, type TransactionSql, withTransaction } from "../../store/connection/sql.ts";
import type { CheckVerdict, Suspect } from "../../store/ledger/checks.ts";
import { findReadSince } from "../../store/ledger/list-freshness.ts";
import { ROOT_PATH } from "../api/api-url.ts";
import type { Client } from "../api/client.ts";
import { isGone, isUpstreamLost } from "../api/fates.ts";
import { fetchDetail } from "../api/fetch-detail.ts";
import { recordStatement } from "../load/tables.ts";
import { cleanJson } from "../normalize/clean-text.ts";
import { normalizePage } from "../normalize/page.ts";
import { ignoredIn } from "../normalize/record-hash.ts";
import { PLANS } from "../normalize/record-plan.ts";
import { type ParsedPage, parseListPage } from "../walk/page.ts";
import type { FaultKind } from "./confidence.ts";

const VALUE_DIFFERENCES = statement<ValueDifference>("value_differences", import.meta.url);
const RECORD_FACTS = recordStatement<RecordFacts>("record_facts", import.meta.url);

type WireRecord = Record<string, unknown>;
/** The record of an id as the interface serves it. Undefined where it answers 404. */
export type FindServed = (
  tx: TransactionSql,
  resource: Resource,
  id: string,
) => Promise<WireRecord | undefined>;
interface LookDeps {
  client: Client;
  sql: Sql;
  findServed: FindServed;
  replicaLagMs: number;
  /** See `ReadAs`. */
  ignoredFields: readonly string[] | null;
  signal: AbortSignal;
}

type Before = Omit<Suspect, "fields">;

/** Of the stored record: nulls where there is none. */
interface RecordFacts {
  hash: string | null;
  changedAt: string | null;
  /** It is known that the record may be gone, or that the mirror lacks it. */
  isKnown: boolean;
  isArchived: boolean;
}

/** Both values of a field as JSON, of long ones the begin; null where a side does not have the field. */
interface ValueDifference {
  field: string;
  service: string | null;
  mirror: string | null;
}

export interface Look extends Before {
  /** In which way both sides differ. Null where they are equal, or it is not known. */
  kind: FaultKind | null;
  /** For people; empty where both sides are equal. */
  why: string;
  differences: ValueDifference[];
}

/** The record that the service shows: null where it says that there is no such one. */
type Shown = { id: string; record: WireRecord | null; askedAt: Date; isDetail: boolean };

const MAX_SHOWN = 2000;

/** Looks at the record of an id or at a place of the list; again at one that differed before, as `first`. */
export type LookAt = (resource: Resource, where: string | number, first?: Before) => Promise<Look>;

/** It throws the error of a host that is away, and the signal's reason. */
export function createLook({
  client,
  sql,
  findServed,
  replicaLagMs,
  ignoredFields,
  signal,
}: LookDeps): LookAt {
  const source = { baseUrl: client.baseUrl, sourceTimezone: client.sourceTimezone };
  /** The lists with a detail that was found: only there a missing one says something. */
  const withDetails = new Set<Resource>();

  /** By an id or at a place of the list. A host that answers, though not for this record, is up. */
  async function show(resource: Resource, where: string | number): Promise<Shown | { why: string }> {
    try {
      if (typeof where === "string") {
        const { record, askedAt } = await fetchDetail(client, resource, where);
        withDetails.add(resource);
        const isIt = recordId(record) === where;
        return isIt
          ? { id: where, record: record as WireRecord, askedAt, isDetail: true }
          : { why: "another record came" };
      }
      const request = requestText({ ...firstRequest(`${ROOT_PATH}${resource}/`, 1), offset: where });
      const parse = (value: unknown, url: string) => parseListPage(value, resource, url, client);
      const { value, sentAt: askedAt } = await client.fetchJson<ParsedPage>(request, { parse });
      const [record, id] = [value.records[0] as WireRecord | undefined, value.ids[0]];
      if (!record || id === undefined) return { why: `its list shows none at place ${where}` };
      return { id, record, askedAt, isDetail: false };
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (typeof where === "string" && isGone(error) && error.askedAt)
        return { id: where, record: null, askedAt: error.askedAt, isDetail: true };
      if (isUpstreamLost(error) && !(await client.isUp(signal))) throw error;
      return { why: error.message };
    }
  }

  /** Reads the record here at one moment, and compares it with the one that the service shows. */
  const readHere = (resource: Resource, { id, record, isDetail }: Shown) =>
    withTransaction(sql, async (tx) => {
      await tx`set transaction isolation level repeatable read, read only`;
      const [facts] = await RECORD_FACTS(tx, resource, { id });
      const served = await findServed(tx, resource, id);
      const leftOut = [
        ...(facts?.isArchived ? PLANS[resource].long : []),
        ...ignoredIn(resource, ignoredFields),
      ];
      const texts = served && record && [record, served].map((one) => comparable(resource, one));
      const differences = await VALUE_DIFFERENCES(tx, {
        shown: texts?.[0] ?? "{}",
        served: texts?.[1] ?? "{}",
        most: MAX_SHOWN,
        leftOut,
        isDetail,
      });
      return {
        ...facts,
        isServed: served !== undefined,
        differences,
        readSince: await findReadSince(tx, resource),
      };
    });

  /** True for a record that the newest reading of its list has shown. */
  async function isOnPage(resource: Resource, id: string): Promise<boolean> {
    const pages =
      await sql`select from sync.pages where resource = ${resource} and ${id} = any (ids) limit 1`;
    return pages.length > 0;
  }

  async function judge(resource: Resource, shown: Shown, first?: Before): Promise<Look> {
    const { id, record, askedAt } = shown;
    const { isServed, isKnown, readSince, changedAt, ...here } = await readHere(resource, shown);
    const page = record && normalizePage(resource, [record], { ...source, ignoredFields });
    const hash = page?.records[0]?.hash ?? null;
    const isAsBefore = first?.hash === hash;
    const at = isAsBefore ? first.at : askedAt.toISOString();
    const oneSide = record === null ? "extra" : "missing";
    const kind = (record !== null) === isServed ? "fields" : oneSide;
    const end = (verdict: CheckVerdict, why = ""): Look => {
      const differences = [...here.differences];
      return { resource, id, at, hash, verdict, kind: verdict === "equal" ? null : kind, why, differences };
    };
    const [refused] = page?.rejected ?? [];
    if (refused) return end("unclear", refused.reason);
    const isOnBothSides = record !== null && isServed;
    if ((record !== null) === isServed && here.differences.length === 0) return end("equal");
    if (!isOnBothSides && isKnown) return end("unclear", "the mirror knows that it may be gone, or lacks it");
    if (isOnBothSides && hash === here.hash) return end("wrong", "it is served otherwise than it was read");
    const onOneSide = record === null ? "the service has no such record" : "it is not here";
    const why = isOnBothSides ? "the service shows another one than was read" : onOneSide;
    // The service has not changed it since the first look, and the mirror has read its list.
    const readMs = Date.parse(readSince ?? "");
    // A reply of a cache may be from before that reading, which is not wrong where it shows what came later.
    const isRead = readMs > Date.parse(at) + replicaLagMs && askedAt.getTime() >= readMs;
    const isOlder = !changedAt || Date.parse(changedAt) <= askedAt.getTime();
    const isProven = isAsBefore && isRead && isOlder && (record !== null || withDetails.has(resource));
    if (isProven && record === null && (await isOnPage(resource, id)))
      return end("denied", "the service's list shows it, and its detail says that there is none");
    return isProven ? end("wrong", `${why}, though its list was read since`) : end("changed", why);
  }

  return async (resource, where, first) => {
    const shown = await show(resource, where);
    if ("record" in shown) return judge(resource, shown, first);
    const id = typeof where === "string" ? where : "";
    return {
      resource,
      id,
      at: "",
      hash: null,
      ...first,
      verdict: "unclear",
      kind: null,
      ...shown,
      differences: [],
    };
  };
}

/** A list of references has no order, and an embedded project counts by its id: its fields are those of another record. */
function comparable(resource: Resource, record: WireRecord): string {
  const { list = "", embedded = "" } = PLANS[resource];
  const { [list]: references, [embedded]: inner } = record;
  const id = (inner as WireRecord | null | undefined)?.id;
  const sorted = Array.isArray(references) && { [list]: references.toSorted() };
  const named = id !== undefined && { [embedded]: String(id) };
  return toJson(cleanJson({ ...record, ...sorted, ...named }, { nul: 0 }));
}

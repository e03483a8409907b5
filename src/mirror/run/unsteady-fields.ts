/**
 * Fields that differ in each reply, as a signed link or a counter, or as by two releases of a service that answer in turn: each
 * reading would find each record changed. They are named, and `DOCMIRROR_IGNORED_FIELDS` leaves them out.
 */
import { UpstreamError } from "../../base/errors.ts";
import { firstRequest, requestText } from "../../resources/page-request.ts";
import { toJson } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { withTransaction } from "../../store/connection/sql.ts";
import { describeUnsteady, findUnsteady } from "../../store/ledger/unsteady-fields.ts";
import type { RunSummary } from "../lists/summary.ts";
import { recordDrift } from "../load/record-drift.ts";
import { ignoredIn } from "../normalize/record-hash.ts";
import { type ParsedPage, parseListPage } from "../walk/page.ts";
import type { OpenRun } from "./open-run.ts";

/** One record is asked for so often. Two releases that answer in turn by chance are missed by one in eight nights. */
const REPLIES = 4;
/** A signed link may hold the second in which it was made. */
const APART_MS = 1100;
/** So many records, and such a share of a list, make it worth the requests. */
const [LEAST_CHANGED, CHANGED_SHARE] = [5, 0.25];

/** Looks at the lists of which a run found many records changed, and warns of fields that were not named before. */
export async function nameUnsteady(
  run: OpenRun,
  walks: readonly { resource: Resource; listPath: string }[],
  ignoredFields: readonly string[] | null,
): Promise<void> {
  const { sql, patience, runId, startedAt, warn, ending, client } = run;
  for (const { resource, listPath } of walks) {
    if (client.lost.aborted || !isSuspect(ending.resources[resource])) continue;
    const known = await patience("find unsteady fields", () => findUnsteady(sql));
    const ignored = ignoredIn(resource, ignoredFields);
    const fields = (await differingFields(run, resource, listPath)).filter(
      (field) =>
        !ignored.has(field) && !known.some((one) => one.resource === resource && one.field === field),
    );
    if (fields.length === 0) continue;
    const facts = { resource, runId, observedAt: startedAt.toISOString() };
    const drift = fields.map((field) => {
      return { field, kind: "unsteady" as const, detail: "differs from reply to reply" };
    });
    await patience("note unsteady fields", () => withTransaction(sql, (tx) => recordDrift(tx, facts, drift)));
    for (const field of fields) warn(describeUnsteady({ resource, field }));
  }
}

function isSuspect(walk: RunSummary["resources"][Resource]): boolean {
  if (!walk || (walk.walk !== "whole" && walk.walk !== "head")) return false;
  return walk.updated >= LEAST_CHANGED && walk.updated >= CHANGED_SHARE * walk.records;
}

/** The fields in which some replies about the first record of a list differ. None where it cannot be asked for. */
async function differingFields(run: OpenRun, resource: Resource, listPath: string): Promise<string[]> {
  const { client, clock, signal } = run;
  const request = requestText(firstRequest(listPath, 1));
  const parse = (value: unknown, url: string) => parseListPage(value, resource, url, client);
  const replies: Record<string, unknown>[] = [];
  try {
    for (let at = 0; at < REPLIES; at++) {
      if (at > 0) await clock.sleep(APART_MS, signal);
      const { value } = await client.fetchJson<ParsedPage>(request, { parse });
      const [record] = value.records;
      // A new record may have come in front.
      if (record && (at === 0 || value.ids[0] === String((replies[0] as { id?: unknown }).id)))
        replies.push(record as Record<string, unknown>);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
  const names = new Set(replies.flatMap((reply) => Object.keys(reply)));
  const texts = (field: string) => new Set(replies.map((reply) => textOf(reply, field)));
  return [...names].filter((field) => texts(field).size > 1);
}

const textOf = (record: Record<string, unknown>, field: string) =>
  Object.hasOwn(record, field) ? toJson(record[field] ?? null) : "absent";

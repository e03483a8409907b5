import { setMaxListeners } from "node:events";
import { messageOf } from "../../base/errors.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { type Sql, statement } from "../../store/connection/sql.ts";
import { type Check, type CheckedList, findSuspects, noteCheck } from "../../store/ledger/checks.ts";
import { findDropped } from "../../store/ledger/dropped-lists.ts";
import { assertService } from "../../store/ledger/mirrored-service.ts";
import { createHostPace } from "../api/host-pace.ts";
import type { SyncOptions, SyncResult } from "../run/run.ts";
import { createRunClient, type RunOptions } from "../run/with-run.ts";
import { countKinds, type KindCounts } from "./confidence.ts";
import { createLook, type FindServed, type Look, type LookAt } from "./looks.ts";

const READ_LISTS = statement<{ resource: Resource; records: number }>("read_lists", import.meta.url);
const DRAW_SAMPLE = statement<Drawn>("draw_sample", import.meta.url, { isPlannedEachTime: true });

const AT_ONCE = 8;
/** So many records that are not equal are kept with what differs, and the next check looks at so many again. */
const [MAX_FOUND, MAX_SUSPECTS] = [100, 20];
const NOTHING: CheckedList = {
  records: 0,
  checked: 0,
  equal: 0,
  changed: 0,
  unclear: 0,
  denied: 0,
  wrong: 0,
};

export interface VerifyOptions extends Omit<RunOptions, "assertMayRun"> {
  resources: readonly Resource[];
  /** The number of records to compare, one request each. */
  sample: number;
  /** A record that may have changed is looked at again after this time; at 0 by the next check. */
  waitMs: number;
  findServed: FindServed;
}

/**
 * Compares records at random with what the mirror would serve, and notes the result, which is all that it writes. Those that
 * differed at the check before are the first. `found` has the first that are not equal. Throws the errors of upstream and the
 * database; then nothing is noted.
 */
export async function verifyMirror(options: VerifyOptions) {
  const { settings, connections, log, signal } = options;
  const { sql } = connections;
  setMaxListeners(0, signal);
  const onWarning = (warning: string) => log.warn({ warning }, "warning of the check");
  const client = createRunClient(options, { log, signal, onWarning });
  try {
    await assertService(sql, settings.baseUrl);
    const look = createLook({ ...options, ...settings, client, sql });
    const check = await compareSample(options, sql, look);
    await noteCheck(sql, check);
    return { ...check, requests: client.stats().requests };
  } finally {
    await client.close();
  }
}

async function compareSample(
  { resources, sample, waitMs, clock, log, signal }: VerifyOptions,
  sql: Sql,
  look: LookAt,
) {
  const lists = await findLists(sql, resources);
  const earlier = await findSuspects(sql);
  const own = earlier.filter(({ resource }) => lists[resource]);
  const drawn = await drawSample(sql, lists, Math.max(0, sample - own.length));
  const looks = new Map<string, Look>();
  const drawnHere = new Set<string>();
  const drawnThere = new Set<string>();
  /** A record that was drawn twice counts once, by the look that says more. */
  const keep = (one: Look, drawnBy?: Set<string>) => {
    const key = `${one.resource} ${one.id || `at ${looks.size}`}`;
    drawnBy?.add(key);
    const before = looks.get(key)?.verdict ?? "unclear";
    if (before === "unclear" || !["equal", "unclear"].includes(one.verdict)) looks.set(key, one);
  };
  for (let from = 0; from < drawn.length; from += AT_ONCE) {
    const batch = drawn.slice(from, from + AT_ONCE);
    const seen = await Promise.all(batch.map(({ resource, id, place }) => look(resource, id ?? place)));
    for (const [at, one] of seen.entries()) keep(one, batch[at]?.id === null ? drawnThere : drawnHere);
  }
  // Those that are gone come last: by then a detail of their list was found, where there is one.
  for (const one of own.sort((a, b) => Number(!a.hash) - Number(!b.hash)))
    keep(await look(one.resource, one.id, one));
  const isDrawn = (key: string) => drawnHere.has(key) || drawnThere.has(key);
  const open = [...looks].filter(([, { verdict }]) => verdict === "changed" && waitMs > 0);
  if (open.length > 0) {
    log.info(
      { records: open.length, wait_ms: waitMs },
      "some may have changed, and are looked at again later",
    );
    await clock.sleep(waitMs, signal);
  }
  for (const [key, one] of open) looks.set(key, await look(one.resource, one.id, one));
  const all = { ...NOTHING };
  for (const { records = 0 } of Object.values(lists)) all.records += records;
  for (const { resource, verdict } of looks.values())
    for (const list of [all, lists[resource] ?? all]) {
      list[verdict] += 1;
      list.checked += Number(verdict === "equal" || verdict === "wrong");
    }
  // A record that is looked at because it differed before was not drawn, and says nothing of the others.
  const kindsOf = (resource: Resource | null) =>
    countKinds(
      [...looks]
        .filter(([key, one]) => one.resource === (resource ?? one.resource) && isDrawn(key))
        .map(([key, { verdict, kind }]) => {
          return { verdict, kind, isDrawnHere: drawnHere.has(key), isDrawnThere: drawnThere.has(key) };
        }),
    );
  const kinds = {
    all: kindsOf(null),
    lists: Object.fromEntries(RESOURCES.map((resource) => [resource, kindsOf(resource)])),
  } as { all: KindCounts; lists: Record<Resource, KindCounts> };
  const found = [...looks.values()].filter(({ verdict }) => verdict !== "equal");
  const suspects = [
    ...earlier.filter((one) => !own.includes(one)),
    ...found
      .filter(({ verdict }) => verdict !== "unclear")
      .map(({ differences, why: _, kind: __, ...one }) => {
        return { ...one, fields: differences.map(({ field }) => field) };
      }),
  ].sort((one, other) => (one.verdict < other.verdict ? 1 : -1));
  return { all, lists, kinds, found: found.slice(0, MAX_FOUND), suspects: suspects.slice(0, MAX_SUSPECTS) };
}

/** The lists that were read to their end, and that the service has, with how many records it counted last, or showed. */
async function findLists(sql: Sql, resources: readonly Resource[]): Promise<Check["lists"]> {
  const dropped = (await findDropped(sql)).map(({ resource }) => resource);
  const rows = await READ_LISTS(sql, { resources: resources.filter((one) => !dropped.includes(one)) });
  return Object.fromEntries(rows.map(({ resource, records }) => [resource, { ...NOTHING, records }]));
}

type Drawn = { resource: Resource; id: string | null; place: number };

/** Half by the records of the mirror, half by the places of the lists. Each has the same chance, and none comes twice. */
async function drawSample(sql: Sql, lists: Check["lists"], size: number): Promise<Drawn[]> {
  return DRAW_SAMPLE(sql, {
    resources: RESOURCES.filter((name) => lists[name]),
    lists: JSON.stringify(lists),
    records: Math.ceil(size / 2),
    places: Math.floor(size / 2),
  });
}

/** A sync that checks some records after a good end, where `verifySample` says so. A failure of that is logged alone. */
export function withCheck<Result extends SyncResult>(
  run: (options: SyncOptions) => Promise<Result>,
  findServed: FindServed,
): (options: SyncOptions) => Promise<Result> {
  return async (options) => {
    const { settings, clock, log, signal, resources } = options;
    const { verifySample: sample, ratePerSecond } = settings;
    // A wait that the host asked for holds for the check too.
    const pace = options.pace ?? createHostPace({ ratePerSecond, clock });
    const result = await run({ ...options, pace });
    if (result.summary.status !== "succeeded" || signal.aborted || sample === 0) return result;
    const check = { ...options, pace, resources: resources ?? RESOURCES, sample, waitMs: 0, findServed };
    try {
      const { records: _, ...counts } = (await verifyMirror(check)).all;
      const undecided = counts.changed + counts.unclear;
      if (counts.wrong === 0 && undecided > counts.checked)
        log.warn(
          { ...counts, hint: "`docmirror doctor` names fields that differ from reply to reply" },
          "a check of records could decide less than half of them",
        );
      else if (counts.wrong === 0) log.info(counts, "records were compared with the service");
      else log.error({ ...counts, hint: "`docmirror status` names them" }, "records of the mirror are wrong");
    } catch (error) {
      if (!signal.aborted)
        log.warn({ error: messageOf(error) }, "could not check the mirror; the next sync does");
    }
    return result;
  };
}

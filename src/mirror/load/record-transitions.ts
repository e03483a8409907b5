/**
 * The only place that stores transitions of builds, for every kind of run: `docs/builds.md` says what a transition is,
 * `docs/internals/builds.md` how its bounds are found and what `rule` and `anomaly` name.
 */
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { Observation } from "./compare-records.ts";

/** The `to_state` of an open build whose detail is gone. `mirror.builds.state` keeps upstream's last. */
const VANISHED = "vanished";

/** A smaller difference between the clocks is not reported as `clock`, because `Date` has whole seconds. */
const NAMED_DIFFERENCE_MS = 1000;
/** Three thousand years. A larger clock error moves no bound further: Postgres begins in 4713 BC. */
const LONGEST_DIFFERENCE_MS = 1e14;

export interface TransitionFacts {
  runId: number;
  sourceTimezone: string;
  /** How far the service's clock is ahead of ours, if it is known. @default unknown */
  clockAhead?: (() => { minMs: number; maxMs: number } | null) | undefined;
}

/** A reply that showed a build, or that it is gone. */
export interface BuildSighting extends Observation {
  id: string;
  /** For a build that was added in this transaction: its columns. Nothing else need be looked up for it. */
  added?: { state: string | null; date: string | null };
}

/** With `isGone` the details of the builds are gone, which is stored for open ones. Returns the number. Safe to repeat. */
export async function recordTransitions(
  tx: TransactionSql,
  facts: TransitionFacts,
  sightings: readonly BuildSighting[],
  isGone = false,
): Promise<number> {
  const known = sightings.filter(({ added }) => added === undefined);
  const first = sightings.filter((one): one is Required<BuildSighting> => one.added !== undefined);
  const [entered, changed] = await Promise.all([
    recordFirstTransitions(tx, facts, first),
    recordLaterTransitions(tx, facts, known, isGone),
  ]);
  const open = first.filter(({ added: { state } }) => state !== null && state !== "finished");
  if (open.length + known.length > 0) {
    await updateOpenBuilds(tx, facts.runId, textOf([...open, ...known]), isGone);
  }
  return entered + changed;
}

function textOf(sightings: readonly BuildSighting[]): string {
  return JSON.stringify(
    sightings.map(({ id, askedAt, observedAt, request }) => ({ id, askedAt, observedAt, request })),
  );
}

/** How far the service's clock is ahead, as the statements use it. */
function clockOf({ clockAhead }: TransitionFacts) {
  const { minMs = null, maxMs = null } = clockAhead?.() ?? {};
  const mostAhead = Math.min(Math.max(0, maxMs ?? 0), LONGEST_DIFFERENCE_MS);
  const leastAhead = minMs ?? 0;
  // When the clocks may agree, they are assumed to agree.
  return { minMs, maxMs, mostAhead, leastAhead, surelyAhead: leastAhead > 0 ? mostAhead : 0 };
}

/** For builds that were just added: without the look-ups of the general statement, three quarters of its time. */
async function recordFirstTransitions(
  tx: TransactionSql,
  facts: TransitionFacts,
  sightings: readonly Required<BuildSighting>[],
): Promise<number> {
  if (sightings.length === 0) return 0;
  const { mostAhead, leastAhead, surelyAhead } = clockOf(facts);
  const zone = facts.sourceTimezone;
  const builds = JSON.stringify(
    sightings.map(({ id, added: { state, date }, askedAt, observedAt, request }) => ({
      ...{ id, state, date, asked_at: askedAt, at: observedAt, request },
    })),
  );
  const result = await tx`
    insert into mirror.build_transitions
      (build_id, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at, rule)
    select
      build.id, 1, null, build.state, case when created.at <= build.at then created.at else '-infinity' end, build.at,
      nullif(concat_ws(', ',
        case when build.date is null then 'no_date' end,
        case when created.at > build.at then 'future_date' end,
        reading.hour || '_hour',
        case when created.at <= build.at and (created.is_cut or ${leastAhead >= NAMED_DIFFERENCE_MS}) then 'clock' end
      ), ''),
      ${facts.runId}, build.request, build.asked_at, case when created.at <= build.at then 'date' else 'unknown' end
    from jsonb_to_recordset(${builds}::text::jsonb)
      as build (id text, state text, date timestamp, asked_at timestamptz, at timestamptz, request text)
    -- Where the clocks of the zone are the same on both days around it, the local time has one meaning.
    cross join lateral (
      select (build.date - interval '24 hours') at time zone ${zone} + interval '24 hours' as before,
        (build.date + interval '24 hours') at time zone ${zone} - interval '24 hours' as after
      offset 0
    ) as around
    left join lateral mirror.read_local_time(build.date, ${zone}) as unclear on around.before <> around.after
    cross join lateral (
      select coalesce(unclear.earliest, around.before) as earliest, unclear.hour offset 0
    ) as reading
    cross join lateral (
      select
        reading.earliest - case when is_cut then ${mostAhead}::float8 else ${surelyAhead}::float8 end * interval '1 ms' as at, is_cut
      from (select reading.earliest - ${surelyAhead}::float8 * interval '1 ms' > build.at as is_cut) as cut
    ) as created`;
  return result.count;
}

async function recordLaterTransitions(
  tx: TransactionSql,
  facts: TransitionFacts,
  sightings: readonly BuildSighting[],
  isGone: boolean,
): Promise<number> {
  if (sightings.length === 0) return 0;
  const { minMs, maxMs, mostAhead, leastAhead, surelyAhead } = clockOf(facts);
  const seen = textOf(sightings);
  const result = await tx`
    with sighting as (
      select build.id, build.date, case when ${isGone} then ${VANISHED}::text else build.state end as state,
        seen."askedAt" as asked_at, seen."observedAt" as at, seen.request
      from jsonb_to_recordset(${seen}::text::jsonb)
        as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, request text)
      join mirror.builds as build on build.id = seen.id
      where not ${isGone} or exists (select from sync.open_builds where build_id = seen.id)
    )
    insert into mirror.build_transitions
      (build_id, seq, from_state, to_state, not_before, not_after, anomaly, run_id, request, asked_at, rule,
       previous_run_id, previous_request)
    select
      sighting.id, coalesce(last.seq, 0) + 1, last.to_state, sighting.state,
      case bound.rule
        when 'date' then created.at
        when 'last_seen' then previous.at
        when 'predecessor' then first.not_before
        else '-infinity'
      end,
      sighting.at,
      nullif(concat_ws(', ',
        case when array_position(${DOCUMENTED}::text[], last.to_state)
          > array_position(${DOCUMENTED}::text[], sighting.state) then 'backward' end,
        case when last.seq is null and sighting.date is null then 'no_date' end,
        case when created.at > sighting.at then 'future_date' end,
        reading.hour || '_hour',
        case when bound.rule = 'date' and (created.is_cut or ${leastAhead >= NAMED_DIFFERENCE_MS})
          or last.seq is not null and bound.rule <> 'last_seen'
          or previous.surely_back >= ${NAMED_DIFFERENCE_MS}::float8 then 'clock' end
      ), ''),
      ${facts.runId}, sighting.request, sighting.asked_at, bound.rule,
      case bound.rule when 'last_seen' then previous.run_id end,
      case bound.rule when 'last_seen' then previous.request end
    from sighting
    left join lateral (
      select * from mirror.build_transitions as transition
      where transition.build_id = sighting.id order by seq desc limit 1
    ) as last on true
    left join sync.open_builds as open on open.build_id = sighting.id
    left join lateral mirror.read_local_time(sighting.date, ${facts.sourceTimezone}) as reading on last.seq is null
    cross join lateral (
      select
        reading.earliest - case when is_cut then ${mostAhead}::float8 else ${surelyAhead}::float8 end * interval '1 ms' as at, is_cut
      from (select reading.earliest - ${surelyAhead}::float8 * interval '1 ms' > sighting.at as is_cut) as cut
    ) as created
    left join mirror.build_transitions as first on first.build_id = sighting.id and first.seq = 1
    -- sync.open_builds has the last sighting of an open build. It is later than the last transition, even if
    -- the clocks do not show that.
    cross join lateral (
      select
        case when open.build_id is null then coalesce(last.asked_at, last.not_after) else open.seen_at end as at,
        case when open.build_id is null then last.run_id else open.run_id end as run_id,
        case when open.build_id is null then last.request else open.request end as request
    ) as sighted
    -- The service's clock shows how far our clock may have been set back since that run.
    left join sync.runs as sighted_by on sighted_by.id = sighted.run_id
    cross join lateral (
      select ${minMs}::float8 - sighted_by.clock_ahead_max_ms as surely_back, sighted.run_id, sighted.request,
        sighted.at - case when ${minMs}::float8 > sighted_by.clock_ahead_max_ms
          then least(${maxMs}::float8 - sighted_by.clock_ahead_min_ms, ${LONGEST_DIFFERENCE_MS}::float8) else 0
        end * interval '1 ms' as at
    ) as previous
    cross join lateral (
      select case
        when last.seq is null then case when created.at <= sighting.at then 'date' else 'unknown' end
        when previous.at <= sighting.at then 'last_seen'
        when first.not_before <= sighting.at then 'predecessor'
        else 'unknown'
      end as rule
    ) as bound
    where last.seq is null or last.to_state is distinct from sighting.state`;
  return result.count;
}

/** The states that upstream documents, in the order of a build's life. */
const DOCUMENTED = ["triggered", "building", "finished"];

/** Open builds were seen now; those that have finished, or have no state any more, are removed. */
async function updateOpenBuilds(tx: TransactionSql, runId: number, seen: string, isGone: boolean) {
  await tx`
    with sighting as (
      select build.id, build.state, seen."askedAt" as asked_at, seen."observedAt" as at, seen.request
      from jsonb_to_recordset(${seen}::text::jsonb)
        as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, request text)
      join mirror.builds as build on build.id = seen.id
      where not ${isGone} or exists (select from sync.open_builds where build_id = seen.id)
    ), closed as (
      delete from sync.open_builds as open using sighting
      where not ${isGone} and open.build_id = sighting.id and coalesce(sighting.state, 'finished') = 'finished'
    )
    insert into sync.open_builds as open (build_id, since, seen_at, run_id, request, vanished_at)
    select
      sighting.id, entered.at, sighting.asked_at, ${runId}, sighting.request,
      case when ${isGone} then coalesce(known.vanished_at, sighting.at) end
    from sighting
    cross join lateral (
      -- A build that was open at its first sighting may have been open for long.
      select case when seq = 1 and isfinite(not_before) then not_before else not_after end as at
      from mirror.build_transitions as transition
      where transition.build_id = sighting.id order by seq desc limit 1
    ) as entered
    left join sync.open_builds as known on known.build_id = sighting.id
    -- A sighting after this reply, but by an earlier run, was made before our clock was set back.
    where (${isGone} or sighting.state <> 'finished')
      and (known.since = entered.at and (known.vanished_at is not null) = ${isGone}
        and known.seen_at between sighting.asked_at and sighting.at) is not true
    on conflict (build_id) do update set
      since = excluded.since, seen_at = excluded.seen_at, run_id = excluded.run_id, request = excluded.request,
      vanished_at = excluded.vanished_at`;
}

/** Without a state the build was gone. */
export type ShownState = BuildSighting & { state?: unknown };

/**
 * Finds the builds that were already seen later than in these sightings, by a later run or later in this one. Where two
 * replies overlap in time, it is unknown which one shows the later state: the one that would move a build backward is stale.
 */
export async function findStale(tx: TransactionSql, runId: number, sightings: readonly ShownState[]) {
  if (sightings.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    select seen.id
    from jsonb_to_recordset(${JSON.stringify(sightings)}::text::jsonb)
      as seen (id text, "askedAt" timestamptz, "observedAt" timestamptz, state text)
    left join sync.open_builds as open on open.build_id = seen.id
    cross join lateral (
      select run_id, not_after, to_state from mirror.build_transitions as transition
      where transition.build_id = seen.id order by seq desc limit 1
    ) as last
    where (last.run_id, last.not_after) > (${runId}, seen."observedAt")
      or (open.run_id, open.seen_at) > (${runId}, seen."askedAt")
      or seen.state is null and open.seen_at between seen."askedAt" and seen."observedAt"
      or last.not_after between seen."askedAt" and seen."observedAt" and seen.state <> last.to_state
        and (last.to_state = ${VANISHED}
          or array_position(${DOCUMENTED}::text[], last.to_state) > array_position(${DOCUMENTED}::text[], seen.state))`;
  return new Set(rows.map(({ id }) => id));
}

const WINDOW = 5000;

/**
 * Records that a full walk saw these open builds in their stored state, within the transaction that ends the walk: a
 * page with the same bytes as in the last walk is not loaded. Builds that were seen later, or that could not be
 * stored, stay as they are.
 */
export async function recordSeen(
  tx: TransactionSql,
  seen: { has(id: string): boolean },
  /** The walk began at `startedAt` in the run `beganRunId`. `request` is the path of the list. */
  walk: { runId: number; beganRunId: number; startedAt: string; request: string },
): Promise<void> {
  const { runId, beganRunId, startedAt, request } = walk;
  let last = "";
  for (;;) {
    const open = await tx<{ id: string }[]>`
      select build_id as id from sync.open_builds as open
      where build_id > ${last} and (run_id, seen_at) < (${beganRunId}, ${startedAt}::timestamptz) and vanished_at is null
        and not exists (
          select from sync.quarantine
          where resource = 'build' and record_id = open.build_id and resolved_at is null)
      order by build_id limit ${WINDOW}`;
    const shown = open.filter(({ id }) => seen.has(id)).map(({ id }) => id);
    if (shown.length > 0) {
      await tx`
        update sync.open_builds set seen_at = ${startedAt}::timestamptz, run_id = ${runId}, request = ${request}
        where build_id = any (${shown}::text[])`;
    }
    if (open.length < WINDOW) return;
    last = open.at(-1)?.id ?? last;
  }
}

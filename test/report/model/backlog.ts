/** How many builds were open at the start of each hour, surely and perhaps; how long builds waited, and how long they worked. */
import type { Calendar } from "./calendar.ts";
import { type Fact, isOver } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import type { Row } from "./rates.ts";
import type { Raw, RawTransition } from "./raw.ts";
import { HOUR_US, type Micros, momentText, parseMoment, SECOND_US } from "./times.ts";

const EARLIEST = parseMoment("2000-01-01 00:00:00");

export function backlog(facts: readonly Fact[], raw: Raw, { coveredThrough }: Calendar): Row[] {
  const gone = new Map(raw.open.map((one) => [one.id, one]));
  const end = coveredThrough ?? raw.refreshedAt;
  const begin = Math.min(end, ...facts.flatMap(({ at }) => (at !== null && at >= EARLIEST ? [at] : [])));
  const hours = { first: Math.floor(begin / HOUR_US), last: Math.floor(end / HOUR_US) };
  const surely = new Map<number, number>();
  const perhaps = new Map<number, number>();

  const count = (counts: Map<number, number>, from: Micros, to: Micros) => {
    const last = Math.min(Math.floor(to / HOUR_US), hours.last);
    for (let hour = Math.max(Math.ceil(from / HOUR_US), hours.first); hour <= last; hour++)
      counts.set(hour, (counts.get(hour) ?? 0) + 1);
  };
  /** The last moment at which it was seen open, and the first at which it was not; -Infinity where unknown. */
  const endOf = (fact: Fact): [Micros, Micros] => {
    const { outcome, state, id, deletedAt } = fact;
    if (isOver(state)) return [fact.finishedAfter ?? -Infinity, fact.finishedBefore ?? -Infinity];
    if (outcome === "vanished") {
      const ends = [gone.get(id)?.vanished_at, deletedAt].filter((at) => at != null);
      return [gone.get(id)?.seen_at ?? -Infinity, ends.length > 0 ? Math.min(...ends) : -Infinity];
    }
    return [fact.seenAt, end];
  };
  for (const fact of facts) {
    const [seen, unseen] = endOf(fact);
    count(surely, fact.firstSeenAt, seen);
    const triggeredAt = (fact.at ?? Infinity) - (fact.isAmbiguous ? HOUR_US : 0);
    count(perhaps, Math.min(triggeredAt, fact.firstSeenAt), Math.max(seen, unseen));
  }

  const rows: Row[] = [];
  for (let hour = hours.first; hour <= hours.last; hour++) {
    const is_covered = coveredThrough !== null;
    const open_max = perhaps.get(hour) ?? 0;
    if (!is_covered && open_max === 0) continue;
    rows.push({ hour: momentText(hour * HOUR_US), open_min: surely.get(hour) ?? 0, open_max, is_covered });
  }
  return rows;
}

/** A moment between two others; null where no earliest one is known. */
interface Between {
  from: Micros | null;
  to: Micros;
}

/** No work: `vanished` is our own word. */
const isIdle = (state: string): boolean => state === "triggered" || state === "vanished" || isOver(state);
const NONE = { queued_s_min: null, queued_s_max: null, building_s_min: null, building_s_max: null };

export function phasesOf({ transitions }: Raw): (fact: Fact) => Row {
  const stepsOf = groupBy(transitions, ({ id }) => id);
  return (fact) => {
    const steps = (stepsOf.get(fact.id) ?? []).toSorted((a, b) => a.seq - b.seq);
    const [first] = steps;
    const last = isOver(fact.state) ? steps.findLast(({ to_state }) => to_state === fact.state) : undefined;
    const until = last ? steps.indexOf(last) : steps.length;
    const work = steps.slice(0, until).find(({ to_state }) => to_state !== null && !isIdle(to_state));
    const isFinished = fact.outcome !== "cancelled";
    const begin = boundsOf(work ?? (isFinished ? last : undefined));
    const trigger = boundsOf(first);
    if (!begin || !trigger) return NONE;
    const finish = isFinished ? boundsOf(last) : null;
    return {
      queued_s_min: shortest(trigger, begin),
      queued_s_max: longest(trigger, begin),
      building_s_min: finish ? shortest(begin, finish) : null,
      building_s_max: finish ? longest(begin, finish) : null,
    };
  };
}

function boundsOf(step: RawTransition | undefined): Between | null {
  return step ? { from: step.not_before, to: step.not_after } : null;
}

function shortest(one: Between, other: Between): number {
  return other.from === null ? 0 : Math.max(0, other.from - one.to) / SECOND_US;
}

function longest(one: Between, other: Between): number | null {
  return one.from === null ? null : (other.to - one.from) / SECOND_US;
}

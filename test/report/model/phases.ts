/** How long builds waited, and how long they worked. */
import { percentile } from "./calendar.ts";
import type { Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { projectColumns, type Row, versionColumns } from "./rates.ts";
import type { Raw, RawTransition } from "./raw.ts";
import { dayOf, dayText, type Micros, momentText, SECOND_US } from "./times.ts";

/** A moment between two others; null where no earliest one is known. */
interface Between {
  from: Micros | null;
  to: Micros;
}

const IDLE = ["triggered", "finished", "vanished"];

export function phaseAnswers(facts: readonly Fact[], raw: Raw) {
  const phases = buildPhases(facts, raw);
  return { build_phases: phases, waits_by_hour_of_day: waitsByHourOfDay(phases) };
}

function buildPhases(facts: readonly Fact[], { transitions }: Raw): Row[] {
  const stepsOf = groupBy(transitions, ({ id }) => id);
  return facts.flatMap((fact) => {
    const steps = (stepsOf.get(fact.id) ?? []).toSorted((a, b) => a.seq - b.seq);
    const [first] = steps;
    const last =
      fact.state === "finished" ? steps.findLast(({ to_state }) => to_state === "finished") : undefined;
    const until = last ? steps.indexOf(last) : steps.length;
    const work = steps.slice(0, until).find(({ to_state }) => to_state !== null && !IDLE.includes(to_state));
    const begin = boundsOf(work ?? last);
    const trigger = boundsOf(first);
    if (!begin || !trigger) return [];
    const finish = boundsOf(last);
    return {
      build_id: fact.id,
      ...projectColumns(fact),
      ...versionColumns(fact),
      type: fact.type,
      outcome: fact.outcome,
      triggered_at: fact.at === null ? null : momentText(fact.at),
      triggered_on: fact.at === null ? null : dayText(dayOf(fact.at)),
      queued_s_min: shortest(trigger, begin),
      queued_s_max: longest(trigger, begin),
      building_s_min: finish ? shortest(begin, finish) : null,
      building_s_max: finish ? longest(begin, finish) : null,
    };
  });
}

/** Their medians by the UTC hour of the trigger. */
function waitsByHourOfDay(phases: readonly Row[]): Row[] {
  const dated = phases.filter(({ triggered_at }) => triggered_at !== null);
  return [...groupBy(dated, ({ triggered_at }) => Number(String(triggered_at).slice(11, 13)))].map(
    ([hour_of_day, own]) => ({
      hour_of_day,
      builds: own.length,
      p50_s_min: percentile(
        own.map(({ queued_s_min }) => Number(queued_s_min) * SECOND_US),
        0.5,
      ),
      p50_s_max: percentile(
        own.map(({ queued_s_max }) => (queued_s_max === null ? Infinity : Number(queued_s_max) * SECOND_US)),
        0.5,
      ),
    }),
  );
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

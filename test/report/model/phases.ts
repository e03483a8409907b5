/** How long builds waited, and how long they worked. */
import type { Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import type { Row } from "./rates.ts";
import type { Raw, RawTransition } from "./raw.ts";
import { type Micros, SECOND_US } from "./times.ts";

/** A moment between two others; null where no earliest one is known. */
interface Between {
  from: Micros | null;
  to: Micros;
}

const IDLE = ["triggered", "finished", "vanished"];
const NONE = { queued_s_min: null, queued_s_max: null, building_s_min: null, building_s_max: null };

export function phasesOf({ transitions }: Raw): (fact: Fact) => Row {
  const stepsOf = groupBy(transitions, ({ id }) => id);
  return (fact) => {
    const steps = (stepsOf.get(fact.id) ?? []).toSorted((a, b) => a.seq - b.seq);
    const [first] = steps;
    const last =
      fact.state === "finished" ? steps.findLast(({ to_state }) => to_state === "finished") : undefined;
    const until = last ? steps.indexOf(last) : steps.length;
    const work = steps.slice(0, until).find(({ to_state }) => to_state !== null && !IDLE.includes(to_state));
    const begin = boundsOf(work ?? last);
    const trigger = boundsOf(first);
    if (!begin || !trigger) return NONE;
    const finish = boundsOf(last);
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

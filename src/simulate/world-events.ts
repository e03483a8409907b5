import { DAY, type Micros } from "./local-dates.ts";
import { createRandom, hash, type Random, STREAM } from "./random.ts";
import { EVENT_KINDS, type EventKind, type Rates } from "./settings.ts";

/** Events of each kind at their mean rate. Each has its own random numbers, so the steps of time change nothing. */
export function createWorldEvents(seed: number, rates: Rates, startAt: Micros) {
  const queues = EVENT_KINDS.filter((kind) => rates[kind] > 0).map((kind) => {
    const random = createRandom(hash(seed, STREAM.event, EVENT_KINDS.indexOf(kind)));
    const mean = DAY / rates[kind];
    return { kind, random, mean, nextAt: startAt + Math.ceil(random.wait(mean)) };
  });

  return {
    /** Runs all events that are due up to a moment, in their order. */
    runUntil(moment: Micros, happen: (kind: EventKind, at: Micros, random: Random) => void): void {
      for (;;) {
        let due = queues[0];
        for (const queue of queues) if (due && queue.nextAt < due.nextAt) due = queue;
        if (!due || due.nextAt > moment) return;
        const at = due.nextAt;
        due.nextAt = at + Math.max(1, Math.ceil(due.random.wait(due.mean)));
        happen(due.kind, at, due.random);
      }
    },
  };
}

/** What broke and what was fixed, by day and week. */

import { type Calendar, coverageOf, dayOfFact, daysOf } from "./calendar.ts";
import type { Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import { countProjects, type Row } from "./rates.ts";
import { allStreaks } from "./series.ts";
import { dayOf, dayText } from "./times.ts";

interface Turn {
  day: number;
  what: "broke" | "fixed" | "born_broken";
  of: Fact;
}

function turnsOf(facts: readonly Fact[]): Turn[] {
  return allStreaks(facts).flatMap(({ failures: [first], before, after }): Turn[] => {
    const turns: [Fact | null | undefined, Turn["what"]][] = [
      [first, before === null ? "born_broken" : "broke"],
      [after, "fixed"],
    ];
    return turns.flatMap(([of, what]) => (of && of.at !== null ? [{ day: dayOf(of.at), what, of }] : []));
  });
}

function countsOf(turns: readonly Turn[], coverage: Row): Row {
  const none = coverage.is_covered || turns.length > 0 ? 0 : null;
  const of = (what: Turn["what"]) => turns.filter((turn) => turn.what === what).map((turn) => turn.of);
  const both = { broke: of("broke"), fixed: of("fixed"), born_broken: of("born_broken") };
  const columns = Object.entries(both).flatMap(([what, own]): [string, number | null][] => [
    [what, own.length || none],
    [`projects_${what}`, countProjects(own) || none],
  ]);
  return { ...Object.fromEntries(columns), ...coverage };
}

export function brokeDaily(facts: readonly Fact[], calendar: Calendar): Row[] {
  const dated = facts.filter(({ at }) => at !== null);
  if (dated.length === 0) return [];
  const turns = groupBy(turnsOf(facts), ({ day }) => day);
  const byDay = groupBy(dated, dayOfFact);
  return daysOf(dated, calendar).map((day) => {
    const coverage = coverageOf(byDay.get(day) ?? [], day, 1, calendar);
    return { day: dayText(day), ...countsOf(turns.get(day) ?? [], coverage) };
  });
}

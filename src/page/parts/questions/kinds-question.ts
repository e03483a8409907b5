import { ask } from "../../../report/ask.ts";
import type { Question } from "../../../report/question.ts";
import { pick, relation } from "../../../report/relation.ts";
import type { Period } from "../period.ts";
import { within } from "./days.ts";

const daily = relation("error_fingerprints_daily");

/** The failures of each day by class, of the period and of the one before it. */
export function askForKinds({ start, last }: Period): Question {
  const kind = pick(daily, "day", "error_class");
  return ask("error_fingerprints_daily")`
select ${kind}, sum(${daily.failures}) as failures
from ${daily}
where ${within(daily.day, start, last)}
group by ${kind}
order by ${kind}`;
}

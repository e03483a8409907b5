import type { Question } from "../../../report/question.ts";
import { dayText, type Period } from "../period.ts";
import { statement } from "./statement.ts";

/** The failures of each day by class, of the period and of the one before it. */
export function askForKinds({ start, last }: Period): Question {
  return statement(
    "error_fingerprints_daily",
    (hold) => `select day, error_class, sum(failures) as failures
from report.error_fingerprints_daily
where day between ${hold(dayText(start))}::date and ${hold(dayText(last))}::date
group by day, error_class
order by day, error_class`,
  );
}

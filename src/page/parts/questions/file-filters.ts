import type { Question } from "../../../report/question.ts";
import type { Query } from "../links.ts";
import { dayText, type Period } from "../period.ts";

/** What narrows the files of a block, of those filters that its relation has. */
export function fileFilters(
  question: Question,
  period: Period,
  type: string | undefined,
  isDrawnBefore: boolean,
): Query {
  const possible = question.narrowedBy;
  return {
    ...(possible.includes("since") && {
      since: dayText(isDrawnBefore ? period.start : period.first),
      until: dayText(period.last),
    }),
    ...(possible.includes("type") && { type }),
  };
}

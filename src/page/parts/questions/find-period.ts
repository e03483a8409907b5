import { ConfigError } from "../../../base/errors.ts";
import type { TransactionSql } from "../../../store/connection/sql.ts";
import { askEach } from "../ask-all.ts";
import type { PageMoment } from "../page-moment.ts";
import { type Period, type PeriodChoice, resolvePeriod } from "../period.ts";
import { FIRST_DAY } from "./days.ts";

/** The period of a choice. Throws ConfigError where no build of it is known: an empty file would look like an answer. */
export async function findPeriod(
  tx: TransactionSql,
  choice: PeriodChoice,
  moment: PageMoment,
): Promise<Period> {
  const { days } = await askEach(tx, { days: FIRST_DAY });
  const firstDay = days[0]?.first_day;
  const period = typeof firstDay === "string" ? resolvePeriod(choice, firstDay, moment) : null;
  if (period !== null) return period;
  throw new ConfigError("no build of these days is known");
}

import { didYouMean } from "../../../base/config/nearest-names.ts";
import { ConfigError } from "../../../base/errors.ts";
import { ask, pick, type Question, relation } from "../../../report/ask.ts";
import { runText } from "../../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../../store/connection/sql.ts";
import type { Period } from "../period.ts";
import { kindLabel } from "../words.ts";
import { within } from "./days.ts";
import { nearestChoices } from "./nearest-choices.ts";

const daily = relation("error_fingerprints_daily");
const kind = relation("error_classes");
const rule = relation("error_rules");

/** All kinds of error: those of the rules, and those of builds. */
export const KINDS = ask("error_rules")`
select ${rule.class} as kind from ${rule} union select ${kind.error_class} from ${kind} union select 'unclassified'`;

/** Throws ConfigError that names the nearest kinds. */
export async function assertKindKnown(tx: TransactionSql, wrong: string | undefined): Promise<void> {
  if (wrong === undefined) return;
  const kinds = await runText<{ kind: string }>(tx, KINDS.text);
  const names = kinds.map(({ kind }) => kind);
  if (names.includes(wrong)) return;
  throw new ConfigError(
    `there is no kind of error ${wrong}${didYouMean(nearestChoices(wrong, names, kindLabel))}`,
  );
}

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

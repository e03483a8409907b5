import { didYouMean } from "../../base/config/nearest-names.ts";
import { ConfigError } from "../../base/errors.ts";
import { ask, pick, type Question, relation } from "../../report/ask.ts";
import { runText, type TransactionSql } from "../../store/connection/sql.ts";
import { foreign, html, type Markup, shorten } from "./html.ts";
import { nearestChoices } from "./links.ts";
import { type Period, within } from "./period.ts";

const ERROR_KINDS: Readonly<Record<string, { label: string; meaning: string }>> = {
  dependency: { label: "Missing dependency", meaning: "something the build needs is missing, or clashes" },
  docs_source: { label: "Docs warning", meaning: "the documents themselves have a fault" },
  latex_pdf: { label: "LaTeX error", meaning: "only the PDF could not be made" },
  vcs: { label: "Source not reachable", meaning: "the source could not be fetched" },
  memory: { label: "Out of memory", meaning: "it was killed for the memory it used" },
  timeout: { label: "Timed out", meaning: "it took too long" },
  config: { label: "Wrong settings", meaning: "the project's own settings have a fault" },
  infra: { label: "Platform fault", meaning: "the platform failed, not the project" },
  cancelled: { label: "Cancelled", meaning: "somebody stopped it" },
  unclassified: { label: "Other error", meaning: "no rule names its error line" },
};

function kindOf(errorClass: unknown) {
  const name = String(errorClass ?? "unclassified");
  return Object.hasOwn(ERROR_KINDS, name) ? ERROR_KINDS[name] : undefined;
}

/** The name of an error class for people. A class that docmirror does not know is shown as it is. */
export const kindLabel = (errorClass: unknown): string =>
  kindOf(errorClass)?.label ?? shorten(String(errorClass), 40);

/** What an error class means, in part of a sentence; null for a class that docmirror does not know. */
export const kindMeaning = (errorClass: unknown): string | null => kindOf(errorClass)?.meaning ?? null;

/** What may be the cause is framed; what is only a place is not. */
const FRAMED = ["‹name›", "‹address›"];
const TOKEN = /(‹(?:name|address|path|number|hash|date)›)/;

/** What error lines share, with its masks: they never look like a part of the line. */
export function renderMask(mask: unknown, maxLength = 300): Markup {
  if (mask === null || mask === undefined || mask === "") return html`(no error line)`;
  return html`${String(mask)
    .slice(0, maxLength)
    .split(TOKEN)
    .map((part, place) => {
      if (place % 2 === 0) return part === "" ? "" : foreign(part, maxLength);
      return FRAMED.includes(part) ? html`<i>${part}</i>` : html`<i class="at">${part}</i>`;
    })}`;
}

/** Whether the mask hides what may be the cause, so that its builds may have several causes. */
export const hidesCause = (mask: unknown): boolean => FRAMED.some((token) => String(mask).includes(token));

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
  const nearest = didYouMean(nearestChoices(wrong, names, kindLabel));
  throw new ConfigError(`there is no kind of error ${wrong}${nearest}`);
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

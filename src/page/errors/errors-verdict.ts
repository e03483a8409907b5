import { counted, grouped } from "../../base/text.ts";
import { ask, relation } from "../../report/ask.ts";
import { countIn, part, type Row } from "../parts/block.ts";
import { foreign, html, percent, wholePercent } from "../parts/html.ts";
import { askForKinds, kindLabel } from "../parts/kinds.ts";
import { buildHref } from "../parts/links.ts";
import { type Kind, kindsOf } from "../parts/outcomes.ts";
import { lengthWords, type Period, within } from "../parts/period.ts";
import {
  askForRising,
  beforeWords,
  linesHref,
  type RisingLine,
  readRising,
  risingWords,
  sayingOf,
} from "../parts/rising.ts";
import type { Verdict } from "../parts/verdict.ts";
import { isRising } from "./lines.ts";
import { askForLines, type ErrorsScope } from "./lines-questions.ts";

const MOST_RISING = 2;

const rate = relation("success_rate_daily");

/** What is most of the failures and what rises; `failed` counts the failures of the period. */
export const errorsVerdict = part({
  asks: ({ period, choice, at }: ErrorsScope) => ({
    kinds: askForKinds(period),
    rising: askForRising(at),
    finished: ask("success_rate_daily")`
select sum(${rate.finished}) as finished\nfrom ${rate}\nwhere ${within(rate.day, period.first, period.last)}`,
    lines: askForLines(period, choice),
  }),
  draw(found, scope) {
    const { period } = scope;
    const kinds = kindsOf(found.kinds, period);
    const failed = kinds.reduce((sum, one) => sum + one.now, 0);
    const risen = found.lines.filter((line) => isRising(line, period));
    const verdict =
      judgeRising(readRising(found.rising), failed, scope) ??
      judgeErrors(kinds, failed, risen, countIn(found.finished[0], "finished"), period);
    return { verdict, failed };
  },
});

/** The line that rose today in the most projects; null where none did. */
function judgeRising(
  rising: readonly RisingLine[],
  failed: number,
  { period: { days }, now, at }: ErrorsScope,
): Verdict | null {
  const [first, second] = rising;
  if (first === undefined) return null;
  const more =
    second === undefined
      ? ""
      : ` Besides it ${counted(rising.length - 1, "line rises", "lines rise")}: “${sayingOf(second.line)}” in ${counted(second.projects, "project")}.`;
  return {
    look: "some",
    mark: { kind: "rises", word: "An error rises" },
    title: `↑ ${sayingOf(first.line, 40)} hit ${counted(first.projects, "project")}`,
    sentence: `${risingWords(first, now)}.`,
    evidence: `${beforeWords(first)}${more}`,
    acts: html`<a href="${buildHref(first.firstBuild)}">The first of them, build ${foreign(first.firstBuild, 24)}</a>
      <a href="${linesHref({ line: first.id }, at)}">The ${counted(first.projects, "project")}</a>
      <a href="#lines">All that failed in ${lengthWords(days)}: ${counted(failed, "build")}</a>`,
  };
}

/**
 * What is most of the failures of a period, and which lines rise: a kind may hold many causes, so it is no alarm.
 * `finished` counts the builds with a known result.
 */
function judgeErrors(
  [most]: readonly Kind[],
  failed: number,
  rising: readonly Row[],
  finished: number,
  period: Period,
): Verdict {
  const length = lengthWords(period.days);
  if (failed === 0 || most === undefined) {
    const isKnown = finished > 0;
    return {
      look: isKnown ? "good" : "idle",
      mark: isKnown ? { kind: "good", word: "None failed" } : { kind: "idle", word: "Not known" },
      title: isKnown ? "Errors: none failed" : "Errors: not known",
      sentence: isKnown
        ? `No build failed in ${length}; ${counted(finished, "build")} finished.`
        : `No build of ${length} has finished, so none can have failed.`,
      evidence: "",
    };
  }
  const isRising = rising.length > 0;
  const share =
    most.now === failed ? "all of them" : `${grouped(most.now)} of them (${wholePercent(most.now / failed)})`;
  return {
    look: isRising ? "some" : "idle",
    mark: isRising ? { kind: "bad2", word: "Rising" } : { kind: "flat", word: "Failures" },
    title: `Errors: ${grouped(failed)} failed in ${length}`,
    sentence: `${counted(failed, "build")} failed in ${length}; ${share} say: ${kindLabel(most.name)}.`,
    evidence: `${riseWords(rising, period)}${finished === 0 ? "" : ` Of ${counted(finished, "finished build")} ${percent(failed / finished)} failed.`}`,
  };
}

function riseWords(rising: readonly Row[], { before, days }: Period): string {
  if (before === null)
    return "The mirror does not know builds of all of the days before, so nothing can be said to rise.";
  if (rising.length === 0)
    return "No line below rose by more than chance. Among many lines chance explains more than among kinds.";
  const [first, ...rest] = rising.slice(0, MOST_RISING).map((line) => ({
    label: `“${sayingOf(String(line.error_line))}”`,
    counts: `${grouped(Number(line.failures))} against ${grouped(Number(line.failures_before))}`,
  }));
  const others = rest.map(({ label, counts }) => `; ${label} too, ${counts}`).join("");
  return `${first?.label} is on the rise: ${first?.counts} in the ${lengthWords(days)} before${others}.`;
}

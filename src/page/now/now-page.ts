import type { TransactionSql } from "../../store/connection/sql.ts";
import { when } from "../parts/age.ts";
import { askEach } from "../parts/ask-all.ts";
import type { Address, Draft, Drawing } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import { offerFiles } from "../parts/offers.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { readPageNumber } from "../parts/pager.ts";
import { assertKindKnown } from "../parts/questions/kinds-question.ts";
import { readText } from "../parts/questions/read-query.ts";
import { renderArrivals } from "./arrivals-block.ts";
import { isSilent, sinceWords } from "./arrivals-verdict.ts";
import { findFailRows, renderFailingNow } from "./now-failing.ts";
import {
  askForLooks,
  NOW_FILES,
  type NowChoice,
  nowBlocks,
  nowQuestions,
  SHOWN,
  type Shown,
} from "./now-questions.ts";
import { fixedPart, type NowSpan, openPart, renderGlance, renderRail, whyPart } from "./now-rail.ts";
import { renderNowVerdict } from "./now-verdict.ts";
import { checkedPart, RULES_PART } from "./quiet-rail.ts";
import { judge } from "./verdict.ts";
import { knownDays, readVerdictFacts } from "./verdict-facts.ts";

const DAY_MS = 86_400_000;

/** The page of now: what is broken, since when, why; and whether that is usual. */
export function nowPage({ query }: Address): Drawing {
  const choice = parse(query);
  return {
    key: ["now", choice],
    draw: (tx, moment) => draw(tx, choice, moment),
    files: {
      parameters: NOW_FILES,
      async ask(tx, { at }) {
        await assertKindKnown(tx, choice.why);
        return nowBlocks(nowQuestions(choice, at));
      },
    },
  };
}

function parse(query: URLSearchParams): NowChoice {
  const show = query.get("show") ?? "";
  return {
    show: Object.hasOwn(SHOWN, show) ? (show as Shown) : undefined,
    why: readText(query, "why"),
    page: readPageNumber(query),
  };
}

async function draw(tx: TransactionSql, choice: NowChoice, moment: PageMoment): Promise<Draft> {
  const questions = nowQuestions(choice, moment.at);
  const answers = await askEach(tx, questions);
  const rows = await findFailRows(tx, answers.list);
  const facts = readVerdictFacts(answers, moment);
  const verdict = judge(facts);
  const kept = { show: choice.show, why: choice.why };
  const offers = offerFiles("now", kept, nowBlocks(questions), NOW_FILES);
  const { arrivals } = facts;
  const lastBuildAt = new Date(arrivals.lastBuildAt);
  const silence = isSilent(verdict)
    ? await askEach(tx, { hours: offers.arrivals.question, looks: askForLooks(lastBuildAt) })
    : null;
  const isQuiet = verdict.kind === "quiet";
  const of = isQuiet ? spanUntil(lastBuildAt, sinceWords(arrivals, moment.now), moment.now) : spanOf(moment);
  const [openCounts] = answers.openCounts;
  const usual = [
    whyPart(
      answers.kinds,
      offers.why,
      of,
      knownDays(answers.totals[0]?.first_day, moment.at),
      facts.finishedLately,
    ),
    openPart(answers.open, openCounts, offers.stuck, of),
    fixedPart(answers.fixed, answers.fixedCounts[0], offers.fixed, of),
  ];
  const beside = isQuiet
    ? [checkedPart(silence?.looks[0], openCounts, facts), RULES_PART]
    : [...usual, ...(silence === null ? [] : [RULES_PART])];
  const main = html`${renderNowVerdict(verdict, facts, answers, moment)}
${silence === null ? "" : renderArrivals(silence.hours, offers.arrivals, arrivals, moment.now)}
${isQuiet ? "" : renderGlance(beside)}
<div class="cols">
<div class="col">
${renderFailingNow({ choice, rows, answers, of, moment, tools: offers.failing, isQuiet })}
</div>
${renderRail(beside)}
</div>`;
  const feed = { href: "/feed.atom", title: "What broke and what was fixed" };
  return { status: 200, facts: { title: verdict.title, tone: verdict.tone, tab: "/", main, feed } };
}

/** The last 24 hours; those before the moment of the data where that is old. */
function spanOf({ now, at }: PageMoment): NowSpan {
  if (at.getTime() !== now.getTime()) return spanUntil(at, when(at.getTime(), now), now);
  return { ...spanUntil(now, "", now), words: "last 24 hours", short: "last 24\u00a0h" };
}

function spanUntil(end: Date, endWords: string, now: Date): NowSpan {
  return {
    now,
    words: `24 hours before ${endWords}`,
    short: "those 24\u00a0h",
    since: new Date(end.getTime() - DAY_MS).toISOString(),
    endWords,
  };
}

import { counted } from "../../base/text.ts";
import { type BlockPage, drawBlocks, filesOf } from "../parts/block.ts";
import { type Address, type Draft, type Drawing, drawNoMatch, type Verdict } from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { html, type Markup } from "../parts/html.ts";
import { assertKindKnown } from "../parts/kinds.ts";
import { readOneOf, readPageNumber, readText, withQuery } from "../parts/links.ts";
import { clockWords, mark } from "../parts/marks.ts";
import { findDay, findDayMoment, readDayChoice, renderDays } from "../parts/period.ts";
import { findMine } from "../parts/projects.ts";
import { arrivals, checked, rules } from "./arrivals.ts";
import { failing } from "./failing.ts";
import { keptBy, type NowChoice, type NowScope, SHOWN } from "./now-scope.ts";
import { type NowSaid, nowVerdict } from "./now-verdict.ts";
import { fixed, stuck, why } from "./rail.ts";

const NOW: BlockPage<NowScope, NowSaid> = {
  name: "now",
  layout: [
    arrivals,
    { main: [failing], rail: [why, stuck, fixed, checked, rules], railLabel: "More about now" },
    { glance: [why, stuck, fixed, rules] },
  ],
  kept: keptBy,
};

/** The page of now: what is broken, since when, why; and whether that is usual. */
export function nowPage({ query }: Address): Drawing {
  const choice: NowChoice = {
    show: readOneOf(query, "show", SHOWN),
    why: readText(query, "why"),
    page: readPageNumber(query),
  };
  const maintainer = readText(query, "maintainer");
  const day = readDayChoice(query);
  const every = day === undefined ? readRefresh(query) : undefined;
  return {
    key: ["now", choice, maintainer, every, day],
    files: filesOf(NOW, async (tx, moment) => {
      await assertKindKnown(tx, choice.why);
      return { choice, mine: await findMine(tx, maintainer), ...(await findDayMoment(tx, day, moment)) };
    }),
    async draw(tx, moment) {
      const mine = await findMine(tx, maintainer);
      const found = await findDay(tx, day, moment);
      const scope = { choice, mine, ...found.moment };
      const days = renderDays(found, day, { ...keptBy(scope), day: undefined }, moment.now);
      if (found.refusal !== null) return drawUnknownDay(found.refusal, days);
      const drawn = await drawBlocks(tx, NOW, nowVerdict, scope);
      const { verdict } = drawn.verdict;
      return {
        verdict,
        above: every === undefined ? "" : renderWallboard(every, moment),
        // What fails comes first; a reader who has chosen a day goes on to choose.
        main: html`
${day !== undefined && days}
${await drawn.draw(drawn.verdict)}
${day === undefined && days}`,
        tab: "/",
        feed: { href: withQuery("/feed.atom", { day }), title: "What broke and what was fixed" },
        renewSeconds: every,
        ...ofDay(scope, verdict),
      };
    },
  };
}

/** The title and the header name a day of the past. */
const ofDay = ({ day }: NowScope, verdict: Verdict) =>
  day && {
    verdict: { ...verdict, title: `${day.name}: ${verdict.title}` },
    age: html`<a class="fresh idle" href="/">${mark("flat", "a day of the past")}<span><b>End of ${day.name}</b> <small>not now</small></span></a>`,
  };

/** A day of which nothing can be said, and the form for another. */
function drawUnknownDay(why: string, days: Markup): Draft {
  const draft = drawNoMatch({
    tab: "/",
    name: "Now",
    sentence: `Nothing can be said of this day. ${why}`,
    evidence: "So this says neither that builds failed then nor that they did not.",
  });
  return { ...draft, main: html`${draft.main}${days}` };
}

/** `?refresh=60` is for a screen on a wall. A page is drawn once a minute at most, and a day is no refresh. */
function readRefresh(query: URLSearchParams): number | undefined {
  const seconds = Number(query.get("refresh") ?? Number.NaN);
  return Number.isSafeInteger(seconds) && seconds > 0 ? Math.min(Math.max(seconds, 10), 3600) : undefined;
}

const renderWallboard = (every: number, { now }: PageMoment): Markup =>
  html`<p class="note">Asks again every ${counted(every, "second")}; asked at ${clockWords(now.getTime())} UTC.
  <a href="/">Stop</a></p>`;

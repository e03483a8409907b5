import { counted } from "../../base/text.ts";
import { type BlockPage, drawBlocks, filesOf } from "../parts/block.ts";
import { readPageNumber, readText } from "../parts/choices.ts";
import type { Address, Drawing } from "../parts/document.ts";
import { html, type Markup } from "../parts/html.ts";
import { assertKindKnown } from "../parts/kinds.ts";
import { clockWords } from "../parts/marks.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { findMine } from "../parts/projects.ts";
import { arrivals, checked, rules } from "./arrivals.ts";
import { failing } from "./failing.ts";
import { type NowChoice, type NowScope, SHOWN, type Shown } from "./now-scope.ts";
import { nowVerdict } from "./now-verdict.ts";
import { fixed, renderGlance, stuck, why } from "./rail.ts";

const LISTED = [
  { main: [failing], rail: [why, stuck, fixed, checked, rules], railLabel: "More about now" },
] as const;
const NOW: BlockPage<NowScope> = {
  name: "now",
  layout: [arrivals, ...LISTED],
  kept: ({ choice: { show, why }, mine }) => ({ show, why, maintainer: mine?.maintainer }),
};

/** The page of now: what is broken, since when, why; and whether that is usual. */
export function nowPage({ query }: Address): Drawing {
  const show = query.get("show") ?? "";
  const choice: NowChoice = {
    show: Object.hasOwn(SHOWN, show) ? (show as Shown) : undefined,
    why: readText(query, "why"),
    page: readPageNumber(query),
  };
  const maintainer = readText(query, "maintainer");
  const every = readRefresh(query);
  return {
    key: ["now", choice, maintainer, every],
    files: filesOf(NOW, async (tx, moment) => {
      await assertKindKnown(tx, choice.why);
      return { choice, mine: await findMine(tx, maintainer), ...moment };
    }),
    async draw(tx, moment) {
      const mine = await findMine(tx, maintainer);
      const drawn = await drawBlocks(tx, NOW, nowVerdict, { choice, mine, ...moment });
      const { verdict, bar, isQuiet } = drawn.verdict;
      const glance = [drawn.facts(why), drawn.facts(stuck), drawn.facts(fixed), drawn.facts(rules)];
      const main = html`${every === undefined ? "" : renderWallboard(every, moment)}${bar}
${drawn.draw([arrivals])}
${isQuiet ? "" : renderGlance(glance)}
${drawn.draw(LISTED)}`;
      const feed = { href: "/feed.atom", title: "What broke and what was fixed" };
      const facts = { title: verdict.title, tone: verdict.tone, tab: "/", main, feed } as const;
      return { status: 200, facts, ...(every !== undefined && { renewSeconds: every }) };
    },
  };
}

/** `?refresh=60` is for a screen on a wall. A page is drawn once a minute at most, and a day is no refresh. */
function readRefresh(query: URLSearchParams): number | undefined {
  const seconds = Number(query.get("refresh") ?? Number.NaN);
  return Number.isSafeInteger(seconds) && seconds > 0 ? Math.min(Math.max(seconds, 10), 3600) : undefined;
}

const renderWallboard = (every: number, { now }: PageMoment): Markup =>
  html`<p class="note">Asks again every ${counted(every, "second")}; asked at ${clockWords(now.getTime())} UTC.
  <a href="/">Stop</a></p>`;

import { type BlockPage, drawBlocks, filesOf } from "../parts/block.ts";
import { readPageNumber, readText } from "../parts/choices.ts";
import type { Address, Drawing } from "../parts/document.ts";
import { html } from "../parts/html.ts";
import { assertKindKnown } from "../parts/kinds.ts";
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
  kept: ({ choice: { show, why } }) => ({ show, why }),
};

/** The page of now: what is broken, since when, why; and whether that is usual. */
export function nowPage({ query }: Address): Drawing {
  const show = query.get("show") ?? "";
  const choice: NowChoice = {
    show: Object.hasOwn(SHOWN, show) ? (show as Shown) : undefined,
    why: readText(query, "why"),
    page: readPageNumber(query),
  };
  return {
    key: ["now", choice],
    files: filesOf(NOW, async (tx, moment) => {
      await assertKindKnown(tx, choice.why);
      return { choice, ...moment };
    }),
    async draw(tx, moment) {
      const drawn = await drawBlocks(tx, NOW, nowVerdict, { choice, ...moment });
      const { verdict, bar, isQuiet } = drawn.verdict;
      const glance = [drawn.facts(why), drawn.facts(stuck), drawn.facts(fixed), drawn.facts(rules)];
      const main = html`${bar}
${drawn.draw([arrivals])}
${isQuiet ? "" : renderGlance(glance)}
${drawn.draw(LISTED)}`;
      const feed = { href: "/feed.atom", title: "What broke and what was fixed" };
      return { status: 200, facts: { title: verdict.title, tone: verdict.tone, tab: "/", main, feed } };
    },
  };
}

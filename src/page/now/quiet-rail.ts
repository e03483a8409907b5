/** What stands beside the list when builds do not arrive as usual: what was looked at, and when that is an alarm. */

import { counted, grouped } from "../../base/text.ts";
import { agoWords, span } from "../parts/age.ts";
import { html } from "../parts/html.ts";
import { mark } from "../parts/mark.ts";
import type { Row } from "../parts/row.ts";
import type { Markup } from "../parts/words.ts";
import { sinceWords } from "./arrivals-verdict.ts";
import type { RailPart } from "./now-rail.ts";
import type { NowVerdictFacts } from "./verdict.ts";

const RULES = [
  {
    kind: "alarm",
    name: "Red",
    say: "None came for twice the longest gap of 28 days, 10 or more are usual in that time, and the mirror has looked within 5 min.",
  },
  {
    kind: "warn",
    name: "Amber",
    say: "None came for longer than the longest gap, or fewer in 24 hours than on any of 28 days.",
  },
  {
    kind: "flat",
    name: "Plain",
    say: "Builds come as usual; fewer than 14 days are known; fewer than 10 are usual; or none came for 28 days.",
  },
  {
    kind: "idle",
    name: "Not known",
    say: "The mirror itself has not looked. Then the page says nothing about arrivals.",
  },
] as const;

/** When the arrival of builds is red, amber, plain, and not known. */
export const RULES_PART: RailPart = {
  id: "rules",
  title: "When this is red",
  short: "and when amber, plain, or not known",
  body: html`<dl class="rules">${RULES.map(
    ({ kind, name, say }) => html`<div><dt>${mark(kind, "")}${name}</dt><dd>${say}</dd></div>
`,
  )}</dl>`,
};

/** Why it is the builds that stopped, and not the mirror. `looks` says how often it looked since the last of them. */
export function checkedPart(looks: Row | undefined, open: Row | undefined, facts: NowVerdictFacts): RailPart {
  const { arrivals, now } = facts;
  const last = sinceWords(arrivals, now);
  const [all, bad] = [Number(looks?.looks ?? 0), Number(looks?.not_whole ?? 0)];
  const total = looks?.total_count ?? null;
  const [builds, stuck] = [Number(open?.builds ?? 0), Number(open?.stuck ?? 0)];
  const progress = `${grouped(builds)} in progress`;
  const checks: readonly (readonly [sign: Markup, what: Markup | string, figure: string, small: string])[] = [
    [
      mark("good", "in order"),
      "The mirror looks",
      span(Math.max(0, now.getTime() - arrivals.lookedAt)),
      `${counted(all, "look")} since ${last}, ${bad === 0 ? "none failed" : `${grouped(bad)} of them not whole`}`,
    ],
    [
      mark("good", "in order"),
      "The service answers",
      "",
      total === null
        ? "it has not said how many builds it has"
        : `its list counts ${counted(Number(total), "build")}`,
    ],
    [mark("bad", "not in order"), "Builds arrive", "0", `none triggered since ${last}`],
    stuck > 0
      ? [
          mark("stuck", "stuck"),
          html`<a href="/projects?state=stuck">${progress}</a>`,
          agoWords(open?.oldest, now) ?? "",
          `${grouped(stuck)} of them stuck`,
        ]
      : [mark("run", "in progress"), progress, "", "none of them is stuck"],
  ];
  return {
    id: "checked",
    title: "What was checked",
    short: "the mirror looks, and the service answers",
    body: html`<ul class="rows">${checks.map(
      ([sign, what, figure, small]) =>
        html`<li><span>${sign} ${what}</span><span class="n">${figure}</span><small>${small}</small></li>
`,
    )}</ul>`,
  };
}

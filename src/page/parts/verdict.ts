import { html, type Markup } from "./html.ts";
import { type MarkKind, mark, type Tone } from "./marks.ts";

/** The mark and the tone of each look: `bad` is tinted, `some` is not; the same for `warn` and `known`. `flat` is plain. */
const LOOKS = {
  bad: { kind: "bad", word: "Something is broken", tone: "bad" },
  some: { kind: "bad", word: "Something is broken", tone: "bad" },
  good: { kind: "good", word: "Good", tone: "good" },
  warn: { kind: "warn", word: "Look here", tone: "warn" },
  known: { kind: "warn", word: "Something broke", tone: "warn" },
  flat: { kind: "flat", word: "Nothing new", tone: "warn" },
  idle: { kind: "idle", word: "Not known", tone: "idle" },
} as const satisfies Record<string, { kind: MarkKind; word: string; tone: Tone }>;

export type VerdictLook = keyof typeof LOOKS;

/** The answer of a page in one sentence, and what speaks for it. */
export interface Verdict {
  /** Of the window. */
  readonly title: string;
  readonly look: VerdictLook;
  /** What the icon of the window says. @default that of the look */
  readonly tone?: Tone;
  /** @default that of the look */
  readonly mark?: { readonly kind: MarkKind; readonly word: string };
  /** The way to this page: links above the sentence. @default nothing */
  readonly crumbs?: Markup;
  /** The heading of the page. */
  readonly sentence: Markup | string;
  /** @default nothing */
  readonly evidence?: Markup | string;
  /** Links. @default none */
  readonly acts?: Markup;
  /** Up to four. @default none */
  readonly figures?: readonly Figure[];
  /** How far the first sync is, in place of figures. @default nothing */
  readonly progress?: Markup;
}

export interface Figure {
  readonly label: string;
  /** The rest of the label, which a phone has no room for, such as ", last 24 hours". */
  readonly labelRest?: string;
  readonly value: Markup | string;
  /** Its unit, such as "of 700 projects". */
  readonly unit?: string;
  /** What it is compared with. */
  readonly note: Markup | string;
  /** A small chart beside the first one; null where there are too few days for it. @default no place for one */
  readonly spark?: Markup | null;
}

/** The icon of the window, which says the verdict too. */
export const toneOf = ({ look, tone = LOOKS[look].tone }: Pick<Verdict, "look" | "tone">): Tone => tone;

/** The first thing on a page. */
export function renderVerdict(verdict: Verdict): Markup {
  const { look, crumbs, sentence, evidence, acts, figures, progress } = verdict;
  const { kind, word } = verdict.mark ?? LOOKS[look];
  const heading = html`<h1 id="v">${sentence}</h1>`;
  return html`<section class="verdict ${look}" aria-labelledby="v">
${mark(kind, word, "big")}
${crumbs === undefined ? heading : html`<div><p class="crumbs">${crumbs}</p>${heading}</div>`}
${evidence === undefined || evidence === "" ? "" : html`<p class="say">${evidence}</p>`}
${acts === undefined ? "" : html`<p class="acts">${acts}</p>`}
${figures === undefined ? progress : renderFigures(figures)}
</section>`;
}

function renderFigures(figures: readonly Figure[]): Markup {
  return html`<dl class="figures${figures[0]?.spark === undefined ? " even" : ""}">
${figures.map(
  ({ label, labelRest, value, unit, note, spark }) =>
    html`<div${spark ? html` class="with-spark"` : ""}>
      <dt>${label}${labelRest === undefined ? "" : html`<span class="rest">${labelRest}</span>`}</dt>
      <dd class="v">${value}${unit === undefined ? "" : html` <small>${unit}</small>`}</dd><dd>${note}</dd>
      ${spark ? html`<dd class="spark">${spark}</dd>` : ""}</div>
`,
)}</dl>`;
}

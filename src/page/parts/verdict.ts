import { html, type Markup } from "./html.ts";
import { type MarkKind, mark } from "./marks.ts";

/** The mark of each look: `bad` is tinted, `some` is not; the same for `warn` and `known`. `flat` is plain. */
const MARKS = {
  bad: { kind: "bad", word: "Something is broken" },
  some: { kind: "bad", word: "Something is broken" },
  good: { kind: "good", word: "Good" },
  warn: { kind: "warn", word: "Look here" },
  known: { kind: "warn", word: "Something broke" },
  flat: { kind: "flat", word: "Nothing new" },
  idle: { kind: "idle", word: "Not known" },
} as const satisfies Record<string, { kind: MarkKind; word: string }>;

export type VerdictLook = keyof typeof MARKS;

interface VerdictBarFacts {
  readonly look: VerdictLook;
  /** The mark, where it is not that of the look. */
  readonly mark?: { readonly kind: MarkKind; readonly word: string };
  /** What leads to here: links above the sentence. @default nothing */
  readonly crumbs?: Markup;
  /** The answer: the heading of the page. */
  readonly sentence: Markup | string;
  /** What speaks for it. @default nothing */
  readonly evidence?: Markup | string;
  /** Links. @default none */
  readonly acts?: Markup;
  /** Figures, as by `renderFigures`. @default none */
  readonly figures?: Markup;
}

/** The same, with the title of the window. */
export interface Verdict extends VerdictBarFacts {
  readonly title: string;
}

/** The first thing on a page: its answer in one sentence. */
export function renderVerdict(facts: VerdictBarFacts): Markup {
  const { look, crumbs, sentence, evidence, acts, figures } = facts;
  const { kind, word } = facts.mark ?? MARKS[look];
  const heading = html`<h1 id="v">${sentence}</h1>`;
  return html`<section class="verdict ${look}" aria-labelledby="v">
${mark(kind, word, "big")}
${crumbs === undefined ? heading : html`<div><p class="crumbs">${crumbs}</p>${heading}</div>`}
${evidence === undefined || evidence === "" ? "" : html`<p class="say">${evidence}</p>`}
${acts === undefined ? "" : html`<p class="acts">${acts}</p>`}
${figures ?? ""}
</section>`;
}

interface Figure {
  readonly label: string;
  /** The rest of the label, which a phone has no room for, such as ", last 24 hours". */
  readonly labelRest?: string;
  readonly value: Markup | string;
  /** Its unit, such as "of 700 projects". */
  readonly unit?: string;
  /** What it is compared with. */
  readonly note: Markup | string;
  /** A small chart beside it. */
  readonly spark?: Markup | null;
}

/** Up to four figures in a row. Where the first has no chart, pass `even`. */
export function renderFigures(figures: readonly Figure[], even = false): Markup {
  return html`<dl class="figures${even ? " even" : ""}">
${figures.map(
  ({ label, labelRest, value, unit, note, spark }) =>
    html`<div${spark ? html` class="with-spark"` : ""}>
      <dt>${label}${labelRest === undefined ? "" : html`<span class="rest">${labelRest}</span>`}</dt>
      <dd class="v">${value}${unit === undefined ? "" : html` <small>${unit}</small>`}</dd><dd>${note}</dd>
      ${spark ? html`<dd class="spark">${spark}</dd>` : ""}</div>
`,
)}</dl>`;
}

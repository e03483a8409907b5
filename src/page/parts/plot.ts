import { html, type Markup } from "./html.ts";

type Place = number | string;

/** How bars look: solid what is sure, hatched what may be, red and green what became of builds. */
export const LOOKS = {
  ink: html`class="m-ink"`,
  good: html`class="m-good"`,
  bad: html`fill="url(#hatch-bad)"`,
  failed: html`class="m-bad"`,
  perhaps: html`fill="url(#hatch)" class="m-edge"`,
  unfinished: html`fill="url(#dots)" class="m-edge"`,
} as const;

export type Look = keyof typeof LOOKS;

interface PlotFacts {
  readonly height: number;
  /** What the chart shows, for those who do not see it. */
  readonly told: string;
  /** The words of the vertical axis, each at its base line. */
  readonly labels: readonly { readonly y: Place; readonly words: string }[];
  /** Where the labels end. @default 40 */
  readonly labelsTo?: number;
  readonly body: Markup;
}

/** A chart as wide as its block, with the labels of its vertical axis beside it. */
export function drawPlot({ height, told, labels, labelsTo = 40, body }: PlotFacts): Markup {
  const texts = labels.map(
    ({ y, words }) => html`<text class="end" x="${labelsTo}" y="${y}">${words}</text>`,
  );
  return html`<div class="chart">
    <svg width="48" height="${height}" aria-hidden="true">${texts}</svg>
    <svg class="plot" role="img" height="${height}" aria-label="${told}">
${body}
</svg></div>`;
}

/** A line from side to side: a tick of the axis, or its base. */
export const levelLine = (y: Place, kind: "grid" | "base" = "grid"): Markup =>
  html`<line class="${kind}" x1="0" x2="100%" y1="${y}" y2="${y}"/>`;

/** A line from the top down: where something begins. */
export const uprightLine = (x: Place, height: number, kind: "cut" | "grid" = "cut"): Markup =>
  html`<line class="${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`;

/** A bar of a chart; its place and width come from the axis. */
export function drawBar(
  look: Look,
  { x, width }: { readonly x: Place; readonly width: Place },
  y: Place,
  height: number,
): Markup {
  return html`<rect ${LOOKS[look]} x="${x}" width="${width}" y="${y}" height="${height.toFixed(1)}"/>`;
}

/** What the marks of a chart mean, in a line below it. */
export const renderKey = (entries: readonly (Markup | string)[]): Markup =>
  html`<p class="key">${entries}</p>`;

/** An entry of a key: a drawing in a box of `size`, and its meaning. */
export function keyEntry(
  size: readonly [width: number, height: number],
  shape: Markup,
  words: Markup | string,
) {
  return html`<span><svg width="${size[0]}" height="${size[1]}" aria-hidden="true">${shape}</svg>${words}</span>`;
}

/** An entry for a bar, as a small square. */
export function swatch(look: Look, words: string): Markup {
  const hasEdge = look === "perhaps" || look === "unfinished";
  const box = hasEdge ? html`x="0.5" y="0.5" width="11" height="11"` : html`width="12" height="12"`;
  return keyEntry([12, 12], html`<rect ${LOOKS[look]} ${box}/>`, words);
}

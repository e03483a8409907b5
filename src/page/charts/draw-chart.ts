import type { TopLevelSpec } from "vega-lite";
import { type KeyEntry, renderKey } from "./chart-key.ts";
import { type Frame, NARROW, WIDE } from "./frame.ts";
import { PAINT } from "./paint.ts";
import { finishSvg } from "./svg.ts";

/** What is drawn over each other, the first one at the bottom. */
export type Layers = Extract<TopLevelSpec, { layer: unknown }>["layer"];

export interface Chart {
  /** Begins the ids of its elements, so it must be the only one of that name on a page. */
  readonly name: string;
  readonly title: string;
  /** What it shows in words, for those who cannot see it. */
  readonly description: string;
  readonly key: readonly KeyEntry[];
  /** What the reader should know beside the key, such as that days were left out. */
  readonly note?: string;
  layers(frame: Frame): Layers;
}

/**
 * Draws it twice, wide and narrow: a picture that only shrinks has letters of four pixels on a phone. The style sheet shows one of the two,
 * and a screen reader meets no other. All text in it is ours or a number; nothing that users typed comes into a chart.
 */
export async function drawChart(chart: Chart): Promise<string> {
  const pictures = await Promise.all([WIDE, NARROW].map((frame) => drawPicture(chart, frame)));
  const note = chart.note === undefined ? "" : `<p class="chart-note">${chart.note}</p>`;
  return `<figure class="chart">${pictures.join("")}<figcaption>${renderKey(chart.name, chart.key)}${note}</figcaption></figure>`;
}

/** What stands in the place of a chart without anything to draw. */
export function noChart(reason: string): string {
  return `<p class="empty">${reason}</p>`;
}

async function drawPicture(chart: Chart, frame: Frame): Promise<string> {
  // Loaded by the first chart: it takes 0.2 s, and what draws none should not wait for it. Node loads a module once.
  const [vega, vegaLite] = await Promise.all([import("vega"), import("vega-lite")]);
  const spec: TopLevelSpec = {
    width: frame.width,
    height: frame.height,
    autosize: { type: "fit", contains: "padding" },
    padding: 2,
    config: {
      background: "transparent",
      font: "inherit",
      view: { stroke: null },
      axis: {
        aria: false,
        labelFontSize: frame.fontSize,
        titleFontSize: frame.fontSize,
        titleFontWeight: "normal",
        labelColor: PAINT.text,
        titleColor: PAINT.text,
        gridColor: PAINT.grid,
        domainColor: PAINT.axis,
        tickColor: PAINT.axis,
      },
    },
    layer: chart.layers(frame),
  };
  const view = new vega.View(vega.parse(vegaLite.compile(spec).spec), { renderer: "none" });
  try {
    return finishSvg(await view.toSVG(), {
      id: `chart-${chart.name}-${frame.name}`,
      className: `chart-${frame.name}`,
      title: chart.title,
      description: chart.description,
    });
  } finally {
    view.finalize();
  }
}

import type { TopLevelSpec } from "vega-lite";
import { type KeyEntry, renderKey } from "./chart-key.ts";
import { type Frame, NARROW, WIDE } from "./frame.ts";
import { PAINT } from "./paint.ts";
import { finishSvg } from "./svg.ts";

/** The layers of a chart, the lowest one first. */
export type Layers = Extract<TopLevelSpec, { layer: unknown }>["layer"];

export interface Chart {
  /** The prefix of the ids of its elements, so it must be unique on a page. */
  readonly name: string;
  readonly title: string;
  /** The content in words, for readers who cannot see it. */
  readonly description: string;
  readonly key: readonly KeyEntry[];
  /** A note below the key, for example that days were left out. */
  readonly note?: string;
  layers(frame: Frame): Layers;
}

/**
 * Draws the chart twice, wide and narrow: a picture that only shrinks has letters of four pixels on a phone.
 * The style sheet shows one of the two, and a screen reader finds only that one. All its text is ours or a
 * number; a chart contains no text of users.
 */
export async function drawChart(chart: Chart): Promise<string> {
  const pictures = await Promise.all([WIDE, NARROW].map((frame) => drawPicture(chart, frame)));
  const note = chart.note === undefined ? "" : `<p class="chart-note">${chart.note}</p>`;
  return `<figure class="chart">${pictures.join("")}<figcaption>${renderKey(chart.name, chart.key)}${note}</figcaption></figure>`;
}

/** The text in the place of a chart that has no data. */
export function noChart(reason: string): string {
  return `<p class="empty">${reason}</p>`;
}

async function drawPicture(chart: Chart, frame: Frame): Promise<string> {
  // Loaded by the first chart: it takes 0.2 s, and a program that draws no chart should not wait for it. Node
  // loads a module once.
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

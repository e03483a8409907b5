/**
 * The colours of the charts, by their meaning. The style sheet sets them for the light and the dark theme. The
 * charts can be read without colour too: failed builds are hatched, unfinished ones are dotted, and days that
 * may still change are hollow or dashed.
 */
export const PAINT = {
  text: "var(--chart-text)",
  axis: "var(--chart-axis)",
  grid: "var(--chart-grid)",
  paper: "var(--chart-paper)",
  rate: "var(--chart-ok)",
  succeeded: "var(--chart-ok)",
  failed: "var(--chart-failed)",
  unfinished: "var(--chart-open)",
  incident: "var(--chart-failed)",
  blind: "var(--chart-blind)",
  median: "var(--chart-ok)",
  slow: "var(--chart-slow)",
} as const;

const stripes = (angle: number, colour: string, width: number, gap: number): string =>
  `patternTransform="rotate(${angle})" width="${gap}" height="${gap}"><rect width="${width}" height="${gap}" fill="${colour}"/>`;

/**
 * Patterns that the browser repeats. A chart uses one as `url(#hatched)`, and its picture gets the definition
 * under its own id.
 */
export const PATTERNS: Readonly<Record<string, string>> = {
  failed: stripes(45, PAINT.failed, 3.4, 5),
  slow: stripes(-45, PAINT.slow, 1.6, 5),
  unfinished: `width="4" height="4"><rect width="2.4" height="2.4" fill="${PAINT.unfinished}"/>`,
  blind: stripes(45, PAINT.blind, 1, 7),
};

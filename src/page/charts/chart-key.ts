import { PAINT } from "./paint.ts";
import { withPatterns } from "./svg.ts";

/** The symbols of a chart's key, each in a box of 24 by 12. */
const SWATCHES = {
  rate: `<path d="M0 6H24" stroke="${PAINT.rate}" stroke-width="2"/><circle cx="12" cy="6" r="2.5" fill="${PAINT.rate}"/>`,
  interval: `<path d="M0 0H24V12H0Z" fill="${PAINT.rate}" fill-opacity="0.25"/>`,
  changing: `<path d="M0 6H24" stroke="${PAINT.rate}" stroke-width="2" stroke-dasharray="4 3"/><circle cx="12" cy="6" r="3" fill="${PAINT.paper}" stroke="${PAINT.rate}" stroke-width="1.5"/>`,
  incident: `<path d="M12 0V12" stroke="${PAINT.incident}" stroke-width="1.5" stroke-dasharray="2 3"/><path d="M7 0H17L12 7Z" fill="${PAINT.incident}"/>`,
  blind: `<path d="M0.5 0.5H23.5V11.5H0.5Z" fill="url(#blind)" stroke="${PAINT.blind}"/>`,
  succeeded: `<path d="M0 0H24V12H0Z" fill="${PAINT.succeeded}"/>`,
  failed: `<path d="M0.5 0.5H23.5V11.5H0.5Z" fill="url(#failed)" stroke="${PAINT.failed}"/>`,
  unfinished: `<path d="M0.5 0.5H23.5V11.5H0.5Z" fill="url(#unfinished)" stroke="${PAINT.unfinished}"/>`,
  pale: `<path d="M0.5 0.5H23.5V11.5H0.5Z" fill="${PAINT.succeeded}" fill-opacity="0.35" stroke="${PAINT.succeeded}"/>`,
  median: `<path d="M0.5 1.5H23.5V10.5H0.5Z" fill="${PAINT.median}" fill-opacity="0.6" stroke="${PAINT.median}"/>`,
  slow: `<path d="M0.5 1.5H23.5V10.5H0.5Z" fill="url(#slow)" stroke="${PAINT.slow}"/>`,
  unbounded: `<path d="M12 1L17 11H7Z" fill="${PAINT.text}"/>`,
} as const;

export interface KeyEntry {
  readonly swatch: keyof typeof SWATCHES;
  readonly label: string;
}

/** The key of a chart. It is text outside the picture, so it wraps on a phone and can be read aloud. */
export function renderKey(name: string, entries: readonly KeyEntry[]): string {
  const items = entries.map(({ swatch, label }) => {
    const drawing = withPatterns(SWATCHES[swatch], `chart-${name}-key-${swatch}`);
    return `<li><svg viewBox="0 0 24 12" width="24" height="12" aria-hidden="true">${drawing}</svg> ${label}</li>`;
  });
  return `<ul class="chart-key">${items.join("")}</ul>`;
}

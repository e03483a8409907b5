import { PATTERNS } from "./paint.ts";

export interface PictureWords {
  /** Unique on the page. */
  id: string;
  className: string;
  title: string;
  description: string;
}

/**
 * Adapts Vega's picture to a page: a root with a title that takes the available width, coordinates to a tenth
 * of a pixel, and no roles that only have a meaning in Vega's own document. The label of a mark becomes its
 * title, which browsers show to a mouse without a script. The page's Content-Security-Policy allows no style
 * attribute, and Vega writes none.
 */
export function finishSvg(svg: string, { id, className, title, description }: PictureWords): string {
  const viewBox = /viewBox="([^"]*)"/.exec(svg)?.[1] ?? "0 0 0 0";
  const body = svg
    .replace(/^<svg[^>]*>|<\/svg>$/g, "")
    .replace(/<rect[^>]*fill="transparent"\/>/, "")
    .replace(/<path class="(?:background|foreground)"[^>]*\/>/g, "")
    .replace(/<(path|line) aria-label="([^"]*)"([^>]*)\/>/g, "<$1$3><title>$2</title></$1>")
    .replace(/ (?:class|role|aria-roledescription|aria-hidden|pointer-events|font-family)="[^"]*"/g, "")
    .replace(/ (?:stroke-width|(?:fill-|stroke-)?opacity)="1"| stroke-dasharray=""/g, "")
    .replace(/ (?:d|transform|[xy]2)="[^"]*"/g, (attribute) =>
      attribute.replace(/-?\d+\.\d{2,}(?:e-?\d+)?/g, (number) =>
        String(Math.round(Number(number) * 10) / 10),
      ),
    )
    .replace(MARKS, (_, marks: string) => liftShared(marks));
  return (
    `<svg class="${className}" viewBox="${viewBox}" role="img" aria-labelledby="${id}-title ${id}-desc">` +
    `<title id="${id}-title">${escapeText(title)}</title><desc id="${id}-desc">${escapeText(description)}</desc>${withPatterns(body, id)}</svg>`
  );
}

/** A group that contains only marks. */
const MARKS =
  /<g>((?:<(?:path|line|text) [^>]*(?:\/>|(?<!\/)>[^<]*(?:<title>[^<]*<\/title>)?<\/(?:path|line|text)>))+)<\/g>/g;
const INHERITED = / (?:fill|stroke|text|font)(?:-[a-z]+)?="[^"]*"/g;

/** Moves attributes that all marks share to their group. That saves half of a picture. */
function liftShared(marks: string): string {
  const shared = [...(/^<[^>]*>/.exec(marks)?.[0] ?? "").matchAll(INHERITED)]
    .map(([attribute]) => attribute)
    .filter((attribute) => marks.split(attribute).length === marks.split(/<(?:path|line|text) /).length);
  const rest = shared.reduce((text, attribute) => text.replaceAll(attribute, ""), marks);
  return `<g${shared.join("")}>${rest}</g>`;
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Gives the patterns of a picture their own ids: the patterns of a hidden picture would fill nothing. */
export function withPatterns(body: string, id: string): string {
  const used = Object.keys(PATTERNS).filter((name) => body.includes(`url(#${name})`));
  if (used.length === 0) return body;
  const patterns = used.map(
    (name) => `<pattern id="${id}-${name}" patternUnits="userSpaceOnUse" ${PATTERNS[name]}</pattern>`,
  );
  return `<defs>${patterns.join("")}</defs>${body.replace(/url\(#(\w+)\)/g, `url(#${id}-$1)`)}`;
}

import { html } from "./html.ts";
import type { Markup } from "./words.ts";

export interface FoldTableFacts {
  readonly title: string;
  /** The cells of its head. */
  readonly heads: readonly Markup[];
  readonly rows: Markup | readonly Markup[];
}

/** The figures of a chart as a table, folded below it. */
export function renderFoldTable({ title, heads, rows }: FoldTableFacts): Markup {
  return html`<details class="fold">
    <summary>${title}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table>
    </div>
  </details>`;
}

/** A head of a column of numbers, or of words. */
export function headCell(words: string, kind: "num" | "" = ""): Markup {
  return html`<th scope="col"${kind === "" ? "" : html` class="${kind}"`}>${words}</th>`;
}

export function numberCell(words: string | number): Markup {
  return html`<td class="num">${words}</td>`;
}

import { html } from "../html.ts";
import { icon } from "../icon.ts";
import type { Markup } from "../words.ts";
import type { Difference } from "./difference.ts";

/** A change of a rate in points. Only what is more than chance is coloured. */
export function renderPoints({ by, isChance }: Difference): Markup {
  const points = (Math.abs(by) * 100).toFixed(1);
  const [sign, kind] =
    points === "0.0"
      ? (["same", "same"] as const)
      : by > 0
        ? (["up", "good"] as const)
        : (["down", "bad"] as const);
  const direction = kind === "same" ? "" : by > 0 ? "up " : "down ";
  return html`<span class="delta ${isChance ? "chance" : kind}">${icon(sign)}<span class="unseen">${direction}</span>${points}\u00a0points</span>`;
}

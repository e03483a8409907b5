import { grouped } from "../../../base/text.ts";
import { wilsonInterval } from "../../../report/wilson-interval.ts";
import { html } from "../html.ts";
import { icon } from "../icon.ts";
import type { Markup } from "../words.ts";

/** How a count changed from one period to the next, of the same length. */
export interface CountChange {
  readonly now: number;
  readonly before: number;
  /**
   * Whether chance alone may have made the difference: whether half lies in the 95 % interval of the share that the
   * new ones have of both.
   */
  readonly isChance: boolean;
}

export function countChange(now: number, before: number): CountChange {
  const interval = wilsonInterval(now, now + before);
  return { now, before, isChance: interval === null || (interval.low <= 0.5 && interval.high >= 0.5) };
}

/** A change in percent, such as `+79 %`, `new` and `gone`; coloured only where it is more than chance, and more is worse. `isPlain`: never. */
export function renderCountChange({ now, before, isChance }: CountChange, isPlain = false): Markup {
  const [sign, words] =
    now === before
      ? (["same", "no change"] as const)
      : before === 0
        ? (["up", "new"] as const)
        : now === 0
          ? (["down", "gone"] as const)
          : now > before
            ? ([
                "up",
                `+${grouped(Math.max(1, Math.round((100 * (now - before)) / before)))}\u00a0%`,
              ] as const)
            : ([
                "down",
                `−${grouped(Math.max(1, Math.round((100 * (before - now)) / before)))}\u00a0%`,
              ] as const);
  const kind = isPlain ? "same" : isChance || now === before ? "chance" : now > before ? "bad" : "good";
  return html`<span class="delta ${kind}">${icon(sign)}${words}</span> <small>${isChance ? "within chance" : "more than chance"}</small>`;
}

/** A change as a plain number, which judges nothing: `+35`. */
export function renderCountStep(now: number, before: number): Markup {
  const step = now - before;
  const sign = step === 0 ? "same" : step > 0 ? "up" : "down";
  const words = step === 0 ? "no change" : `${step > 0 ? "+" : "−"}${grouped(Math.abs(step))}`;
  return html`<span class="delta same">${icon(sign)}${words}</span>`;
}

import { html } from "./html.ts";
import { type IconName, icon } from "./icon.ts";
import type { Markup } from "./words.ts";

/**
 * The states: `bad` main docs fail, `bad2` another version or format fails, `rises` an error line that does, `alarm` stopped,
 * `good`, `stuck`, `run` in progress, `warn` look here, `idle` not known, `flat` neither good nor bad.
 */
const ICONS = {
  bad: "x",
  bad2: "x",
  alarm: "bang",
  rises: "up",
  good: "check",
  stuck: "stuck",
  run: "run",
  warn: "bang",
  idle: "q",
  flat: "same",
} as const satisfies Record<string, IconName>;

export type MarkKind = keyof typeof ICONS;

/** A state as a shape with a sign, and its word for those who do not see it. */
export function mark(kind: MarkKind, word: string, size: "small" | "big" = "small"): Markup {
  const big = size === "big" ? " big" : "";
  return html`<span class="st ${kind}${big}">${icon(ICONS[kind])}<span class="unseen">${word}</span></span>`;
}

/** The mark of each outcome in `report.fact_builds`, and its word. */
const OUTCOMES: Readonly<Record<string, { kind: MarkKind; word: string }>> = {
  succeeded: { kind: "good", word: "succeeded" },
  failed: { kind: "bad", word: "failed" },
  open: { kind: "run", word: "in progress" },
  stuck: { kind: "stuck", word: "stuck" },
  vanished: { kind: "idle", word: "vanished" },
};

/** How an outcome is shown. One that is not known has a question mark and "state not known". */
export function outcomeMark(outcome: unknown): { kind: MarkKind; word: string } {
  const name = String(outcome);
  const known = Object.hasOwn(OUTCOMES, name) ? OUTCOMES[name] : undefined;
  return known ?? { kind: "idle", word: "state not known" };
}

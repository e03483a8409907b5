import { type Chip, renderChips } from "./chips.ts";
import type { Query } from "./links.ts";
import { dayText, type Period, type PeriodChoice } from "./period.ts";
import type { Markup } from "./words.ts";

const LENGTHS = [7, 14, 30, 90];

export interface PeriodChipsFacts {
  readonly path: string;
  /** What is shown. */
  readonly period: Period;
  readonly choice: PeriodChoice;
  /** The other filters, which are kept. */
  readonly kept: Query;
}

/** The usual periods, up to the last day that was read whole; those longer than what is known are left out. */
export function renderPeriodChips({ path, period, choice, kept }: PeriodChipsFacts): Markup {
  const { known, usualLast, days, last } = period;
  const since = (length: number) => dayText(usualLast - length + 1);
  const all = usualLast - known + 1;
  const chips: Chip[] = [
    ...LENGTHS.filter((length) => length < all).map((length) => ({
      label: `${length} days`,
      value: since(length),
    })),
    { label: "All", value: since(all) },
  ];
  const chosen = choice.until === undefined && last === usualLast ? since(days) : undefined;
  return renderChips({ label: "How many days", path, name: "since", chosen: chosen ?? "none", kept, chips });
}

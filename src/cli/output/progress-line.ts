import { styleText } from "node:util";
import { printable } from "../../base/text.ts";

export interface ResourceProgress {
  /** Absent where rows do not come in pages. */
  pages?: number;
  records: number;
  totalCount: number | null;
  recordsPerSecond: number;
  secondsLeft: number | null;
  done?: string;
}

const BAR_WIDTH = 20;

/**
 * Renders one resource on one line of at most `width` columns. On a narrow terminal the least important parts
 * are left out first: bar, pages, rate. The bar is ASCII, because the block characters are two columns wide
 * in some terminals.
 */
export function progressLine(
  name: string,
  state: ResourceProgress,
  style: { width: number; colour: boolean },
): string {
  const { pages, records, totalCount, recordsPerSecond, done } = state;
  const share = totalCount === null || totalCount === 0 ? null : Math.min(1, records / totalCount);
  const filled = share === null ? 0 : Math.floor(share * BAR_WIDTH);
  const bar = `[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}]`;
  const counts =
    totalCount === null ? `${grouped(records)} rows` : `${grouped(records)} of ${grouped(totalCount)} rows`;
  const end = done === undefined ? timeLeft(state.secondsLeft) : printable(done);
  const parts = [
    { text: name, drop: 9 },
    { text: bar, drop: 0 },
    { text: counts, drop: 8 },
    { text: pages === undefined ? "" : `${grouped(pages)} ${pages === 1 ? "page" : "pages"}`, drop: 1 },
    { text: `${grouped(Math.round(recordsPerSecond))}/s`, drop: 2 },
    { text: end, drop: 3 },
  ].filter((part) => part.text !== "" && !(done !== undefined && part.drop === 2));
  const length = () => parts.reduce((sum, part) => sum + part.text.length + 2, -2);
  while (parts.length > 1 && length() > style.width) {
    const least = parts.reduce((a, b) => (a.drop < b.drop ? a : b));
    parts.splice(parts.indexOf(least), 1);
  }
  return parts
    .map((part) => (style.colour ? coloured(part.text, part.drop, done !== undefined) : part.text))
    .join("  ")
    .slice(0, parts.length > 1 ? undefined : Math.max(1, style.width));
}

function coloured(text: string, drop: number, isDone: boolean): string {
  // Whether to colour was decided already, so styleText must not check the stream again.
  if (drop === 0) return styleText(isDone ? "green" : "cyan", text, { validateStream: false });
  if (drop >= 8) return text;
  return styleText("gray", text, { validateStream: false });
}

function timeLeft(seconds: number | null): string {
  if (seconds === null) return "";
  if (seconds < 60) return `${seconds} s left`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s left`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min left`;
}

/** Puts a comma between groups of three digits, without Intl, whose first use takes 20 ms. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

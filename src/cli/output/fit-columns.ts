import stringWidth from "string-width";

export interface ColumnFacts {
  head: string;
  cells: readonly string[];
  /** Numbers are never cut: half a number is another number. */
  isNumeric: boolean;
}

const GAP = 2;
/** Texts that are cut shorter than this are of no use. */
const LEAST_TEXT = 8;
/** A further column is left out where it would cut other texts shorter than this. */
const GOOD_TEXT = 12;
const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d)?)?$/;

interface Width {
  now: number;
  good: number;
  least: number;
}

/**
 * The width of each column of a table that must fit into `most` characters. The widest texts are cut first;
 * numbers, days and moments are never cut. With `mayDrop`, columns at the end are left out where the others
 * would be cut too short. Without it, or where a single column is too wide, the table stays wider.
 */
export function fitColumns(
  columns: readonly ColumnFacts[],
  most: number,
  { mayDrop }: { mayDrop: boolean },
): number[] {
  const widths = columns.map(widthOf);
  while (mayDrop && widths.length > 1 && total(widths, "good") > most) widths.pop();
  for (let over = total(widths, "now") - most; over > 0; over--) {
    const widest = findWidest(widths);
    if (widest === undefined) break;
    widest.now -= 1;
  }
  return widths.map(({ now }) => now);
}

function widthOf({ head, cells, isNumeric }: ColumnFacts): Width {
  const widest = Math.max(0, ...cells.map((cell) => stringWidth(cell)));
  const now = Math.max(stringWidth(head), widest);
  const isFirm = isNumeric || cells.every((cell) => cell === "" || MOMENT.test(cell));
  return {
    now,
    good: isFirm ? now : Math.min(now, GOOD_TEXT),
    least: isFirm ? now : Math.min(now, LEAST_TEXT),
  };
}

function findWidest(widths: readonly Width[]): Width | undefined {
  const open = widths.filter(({ now, least }) => now > least);
  return open.reduce<Width | undefined>((a, b) => (a === undefined || b.now > a.now ? b : a), undefined);
}

function total(widths: readonly Width[], which: keyof Width): number {
  return widths.reduce((sum, width) => sum + width[which], 0) + GAP * Math.max(0, widths.length - 1);
}

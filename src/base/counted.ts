/** Counts in words for people, in the page and on the terminal. */

/** A whole number, grouped by thousands. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** A count with its noun: `1 project`, `1,200 projects`. @default plural: the noun with an s */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

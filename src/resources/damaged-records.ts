/** Records of a reply with bytes that do not fit its charset: the characters in their place are U+FFFD. */

const DAMAGED = Symbol("holds U+FFFD in the place of bytes that do not fit");

/**
 * Marks the records of a reply that hold such characters. `damaged` is the same reply, in which no other U+FFFD is
 * left. A reply without `objects` is one record.
 */
export function markDamaged(reply: unknown, damaged: unknown): void {
  const [records, copies] = [recordsOf(reply), recordsOf(damaged)];
  for (const [place, record] of records.entries()) {
    if (typeof record !== "object" || record === null || !holdsReplacement(copies[place])) continue;
    // None of its own keys, so that nobody stores or prints it.
    Object.defineProperty(record, DAMAGED, { value: true });
  }
}

/** Whether a record holds characters in the place of bytes that did not fit the charset of its reply. */
export function isDamaged(record: unknown): boolean {
  return typeof record === "object" && record !== null && DAMAGED in record;
}

function recordsOf(reply: unknown): readonly unknown[] {
  const objects = (reply as { objects?: unknown } | null)?.objects;
  return Array.isArray(objects) ? objects : [reply];
}

/** It does not recurse, so deep nesting is safe. */
function holdsReplacement(value: unknown): boolean {
  const open: Iterator<unknown>[] = [[value].values()];
  for (let inner = open.at(-1); inner; inner = open.at(-1)) {
    const { done, value: one } = inner.next();
    if (done) open.pop();
    else if (typeof one === "string" && one.includes("\uFFFD")) return true;
    else if (Array.isArray(one)) open.push(one.values());
    else if (typeof one === "object" && one !== null) {
      if (Object.keys(one).some((key) => key.includes("\uFFFD"))) return true;
      open.push(Object.values(one).values());
    }
  }
  return false;
}

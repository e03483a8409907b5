/**
 * Writes a parsed value as JSON, cut to `maxLength` characters. Unlike JSON.stringify it does not recurse, so
 * deep nesting is safe, and it stops soon after `maxLength`, so a huge value costs little memory. A number that JSON
 * does not have is written as `parseJson` reads it.
 */
export function jsonText(value: unknown, maxLength: number): string {
  const open: { members: Iterator<[string | number, unknown]>; end: "]" | "}"; isFirst: boolean }[] = [];
  const pieces: string[] = [];
  let length = 0;
  const write = (piece: string) => {
    pieces.push(piece);
    length += piece.length;
  };
  const begin = (one: unknown) => {
    if (Array.isArray(one)) {
      write("[");
      open.push({ members: one.entries(), end: "]", isFirst: true });
    } else if (typeof one === "object" && one !== null) {
      write("{");
      open.push({ members: Object.entries(one).values(), end: "}", isFirst: true });
    } else {
      const isForeign = typeof one === "number" && !Number.isFinite(one);
      write(isForeign ? String(one) : (JSON.stringify(one) ?? "null"));
    }
  };

  begin(value);
  for (let inner = open.at(-1); inner && length < maxLength; inner = open.at(-1)) {
    const next = inner.members.next();
    if (next.done) {
      write(inner.end);
      open.pop();
      continue;
    }
    const [key, member] = next.value;
    if (!inner.isFirst) write(",");
    inner.isFirst = false;
    if (inner.end === "}") write(`${JSON.stringify(key)}:`);
    begin(member);
  }
  return pieces.join("").slice(0, maxLength);
}

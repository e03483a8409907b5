/**
 * A parsed value as JSON again, at most `maxLength` characters of it. Unlike JSON.stringify it needs no stack, however deep the value
 * is nested, and makes no text that is longer than what is kept and one value more.
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
      write(JSON.stringify(one) ?? "null");
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

/** The rules of a `robots.txt` for this program, by RFC 9309, and the delay between two requests that many files ask for. */

interface Robots {
  delayMs: number;
  /** The line that keeps robots from this address. Null where none does. */
  findRefusal(url: URL): string | null;
}

const NAME = "docmirror";
/** The rest is not read, as the RFC allows. */
const MAX_LENGTH = 500 * 1024;

/** Never throws: what is no rule is skipped, so a page of HTML in the place of the file refuses nothing. */
export function parseRobots(text: string): Robots {
  const groups: { names: string[]; rules: { key: string; value: string }[] }[] = [];
  for (const line of text.slice(0, MAX_LENGTH).split(/[\r\n]+/)) {
    const [, key = "", value = ""] =
      /^([^:]*):(.*)$/.exec(line.replace(/#.*/, ""))?.map((part) => part.trim()) ?? [];
    const group = groups.at(-1);
    if (/^user-agent$/i.test(key)) {
      const name = /^(?:\*|[a-z_-]+)/i.exec(value)?.[0].toLowerCase() ?? "";
      if (group?.rules.length === 0) group.names.push(name);
      else groups.push({ names: [name], rules: [] });
    } else if (/^(?:allow|disallow|crawl-delay)$/i.test(key))
      group?.rules.push({ key: key.toLowerCase(), value });
  }
  const ruled = (by: string) => groups.filter(({ names }) => names.includes(by));
  const rules = (ruled(NAME).length > 0 ? ruled(NAME) : ruled("*")).flatMap((group) => group.rules);
  const delays = rules.map(({ key, value }) => (key === "crawl-delay" ? Number(value) * 1000 : 0));
  const paths = rules
    .filter(({ key, value }) => key !== "crawl-delay" && value !== "")
    .map((rule) => ({ ...rule, pattern: normalize(rule.value) }))
    // The longest rule that fits decides, and of two equally long ones the one that allows.
    .sort((a, b) => b.pattern.length - a.pattern.length || a.key.localeCompare(b.key));
  return {
    delayMs: Math.max(0, ...delays.filter(Number.isFinite)),
    findRefusal({ pathname, search }) {
      const place = normalize(pathname + search);
      const first = paths.find(({ pattern }) => fits(place, pattern));
      return first?.key === "disallow" ? `Disallow: ${first.value}` : null;
    },
  };
}

/** `*` stands for any text, `$` at the end for the end of the address. */
function fits(place: string, pattern: string): boolean {
  const [front = "", ...pieces] = (pattern.endsWith("$") ? pattern.slice(0, -1) : `${pattern}*`).split("*");
  const last = pieces.pop();
  if (last === undefined) return place === front;
  if (!place.startsWith(front)) return false;
  let at = front.length;
  for (const piece of pieces) {
    const found = place.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= place.length - last.length && place.endsWith(last);
}

/** One spelling for each address: escapes in capitals, and only where they must be. */
function normalize(place: string): string {
  const plain = place.replace(/%[0-9a-f]{2}/gi, (code) => {
    const sign = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(sign) ? sign : code.toUpperCase();
  });
  return plain.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

/** The values of a `.env`, and its faults. The values may be secret, so no fault repeats a line. */
export interface DotEnv {
  readonly variables: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
}

/** The text of a file in UTF-8 or, as PowerShell writes them, in UTF-16. A byte order mark is no part of it. */
export function decodeText(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString("hex");
  const encoding = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/** True where `decodeText` could read this text. */
export const isReadable = (text: string): boolean => !/[\0\uFFFD]/.test(text);

/**
 * Reads lines of the form NAME=value. As in a shell and in Docker Compose, a `#` begins a comment at the start of a line and after
 * a blank alone, so `ab#cd` is one value. A value in quotes is taken as it is and may have several lines; `\n` in double ones is a new line.
 * Node's `parseEnv` drops what it cannot read and cuts each value at its first `#`.
 */
export function parseDotEnv(text: string): DotEnv {
  const lines = text.split(/\r\n|\r|\n/);
  const variables: Record<string, string> = {};
  const faults: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (/^\s*(?:#|$)/.test(line)) continue;
    const refuse = (why: string) => faults.push(`.env, line ${at + 1}: ${why}`);
    const [, name, value = ""] = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=(.*)$/.exec(line) ?? [];
    const quote = /^\s*(["'`])/.exec(value)?.[1];
    if (!isReadable(line)) refuse("it is not text in UTF-8; save the file in UTF-8");
    else if (name === undefined) refuse("it is not of the form NAME=value");
    else if (quote === undefined) variables[name] = value.replace(/\s#.*$/, "").trim();
    else {
      const rest = [value.trimStart().slice(1), ...lines.slice(at + 1)].join("\n");
      const end = rest.indexOf(quote);
      const quoted = rest.slice(0, end);
      const behind = (rest.slice(end + 1).split("\n", 1)[0] ?? "").trim();
      const other = "a value that has such a quote in it wants quotes of another kind";
      if (end < 0) refuse(`the quote ${quote} has no end; ${other}`);
      else if (!/^(?:#|$)/.test(behind)) refuse(`there is text behind the second ${quote}; ${other}`);
      else {
        variables[name] = quote === '"' ? quoted.replaceAll("\\n", "\n") : quoted;
        at += quoted.split("\n").length - 1;
      }
    }
  }
  return { variables, faults };
}

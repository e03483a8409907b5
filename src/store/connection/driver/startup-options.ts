/** The content of libpq's parameter `options`. */
export interface StartupOptions {
  /** The settings in it: `-c name=value`, `-cname=value`, `--name=value`. */
  session: Record<string, string>;
  /**
   * The other words, such as the `endpoint=…` by which a provider finds the server. Undefined when there are
   * none.
   */
  rest: string | undefined;
}

/**
 * Reads `options` as a server does: words between spaces, where a backslash escapes the next character. Never
 * throws.
 */
export function parseStartupOptions(text: string): StartupOptions {
  const words = [...text.matchAll(/(?:\\.|[^\s\\])+/gs)].map(([word]) => word);
  const session: Record<string, string> = {};
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    let word = words[at] ?? "";
    if (word === "-c" && at + 1 < words.length) word += words[++at];
    const setting = /^(?:-c|--)([^=]+)=(.*)$/s.exec(word);
    if (setting === null) rest.push(word);
    else session[plain(setting[1]).replaceAll("-", "_")] = plain(setting[2]);
  }
  return { session, rest: rest.length === 0 ? undefined : rest.join(" ") };
}

function plain(escaped = ""): string {
  return escaped.replace(/\\(.)/gs, "$1");
}

import { html as sendAsWritten } from "hono/html";

const JOINED = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/**
 * Markup with its values escaped. An indented line continues the line before it, so that long markup can be
 * broken: between tags and values the break is not sent, beside a word or an attribute it is a space. A line that
 * begins at the margin stays a line of the page.
 */
export function html(strings: TemplateStringsArray, ...values: unknown[]): ReturnType<typeof sendAsWritten> {
  let joined = JOINED.get(strings);
  if (joined === undefined) {
    // A template is the same object at each call, so this is done once.
    joined = Object.assign(strings.map(joinLines), { raw: strings.raw });
    JOINED.set(strings, joined);
  }
  return sendAsWritten(joined, ...values);
}

function joinLines(text: string): string {
  return text.replace(/\n +/g, (found, place: number) => {
    const [before, after] = [text[place - 1] ?? ">", text[place + found.length] ?? "<"];
    return before === ">" && after === "<" ? "" : " ";
  });
}

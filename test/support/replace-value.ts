/** Puts a value in the place of another, anywhere in a reply. */

const MARK = "\u0001the value goes here\u0001";

/**
 * A JSON text with the value at one place replaced. `steps` choose the way down, each a key or a number modulo what there is; the way ends early at a value
 * that holds nothing. `json` goes in as it is, so that it may be what JSON.stringify cannot write. Without steps it is the whole reply.
 */
export function replaceValue(
  text: string,
  steps: readonly (number | string)[],
  json: string,
): { text: string; keys: string[] } {
  const root = { reply: JSON.parse(text) as unknown };
  const keys: string[] = [];
  let holder: Record<string, unknown> = root;
  let key = "reply";
  for (const step of steps) {
    const value = holder[key];
    if (typeof value !== "object" || value === null) break;
    const choices = Object.keys(value);
    const chosen = typeof step === "string" ? step : choices[step % choices.length];
    if (chosen === undefined) break;
    keys.push(chosen);
    holder = value as Record<string, unknown>;
    key = chosen;
  }
  holder[key] = MARK;
  return { text: JSON.stringify(root.reply).replace(JSON.stringify(MARK), () => json), keys };
}

/** A text that two JSON values share just when they hold the same, whatever the order of their keys and their prototypes. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(withSortedEntries(value));
}

/** Objects become lists of their entries, so that no key is special, and are marked as such. */
function withSortedEntries(value: unknown): unknown {
  if (Array.isArray(value)) return ["list", ...value.map(withSortedEntries)];
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return ["object", ...entries.map(([key, inner]) => [key, withSortedEntries(inner)])];
}

/** What the typed client gave, as the service sent it: with the fields of `extra` beside the others, and without `reply`. */
export function asSent(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(asSent);
  if (typeof given !== "object" || given === null) return given;
  const { extra = {}, reply: _, ...fields } = given as Record<string, unknown>;
  const read = Object.entries(fields).map(([name, value]) => [name, asSent(value)]);
  return { ...Object.fromEntries(read), ...(extra as object) };
}

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

/** What the typed client gave, as the service sent it: with the fields of `extra` beside the others, and without `reply`. */
export function asSent(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(asSent);
  if (typeof given !== "object" || given === null) return given;
  const { extra = {}, reply: _, ...fields } = given as Record<string, unknown>;
  const read = Object.entries(fields).map(([name, value]) => [name, asSent(value)]);
  return { ...Object.fromEntries(read), ...(extra as object) };
}

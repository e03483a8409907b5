import { nearestNames } from "../../../base/config/nearest-names.ts";

/** The choices that a wrong one may mean, by their values or by the labels that readers see; nearest first. */
export function nearestChoices<Value extends string>(
  wrong: string,
  values: readonly Value[],
  labelOf: (value: Value) => string,
): Value[] {
  const byName = new Map<string, Value>();
  for (const value of values) byName.set(labelOf(value), value);
  // A value that is another one's label means itself.
  for (const value of values) byName.set(value, value);
  const nearest = nearestNames(wrong, byName.keys()).flatMap((name) => byName.get(name) ?? []);
  return [...new Set(nearest)];
}

import leven from "leven";
import { SETTING_KEYS, SETTINGS } from "./settings.ts";

/** A fault for every variable that looks like a setting of ours and is none, with the nearest right name. */
export function unknownNames(
  variables: Readonly<Record<string, string | undefined>>,
  source: string,
): string[] {
  const known = SETTING_KEYS.flatMap((key) => [SETTINGS[key].name, `${SETTINGS[key].name}_FILE`]);
  return Object.keys(variables)
    .filter((name) => /^DOCMIRROR_/i.test(name) && !known.includes(name))
    .map((name) => {
      const near = nearest(name, known);
      const suggestion = near === undefined ? "" : `; did you mean ${near}?`;
      return `${name} (${source}): there is no such setting${suggestion}`;
    });
}

/** The common prefix is left out, since it would make every name look near. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const wrong = bare(name);
  const ranked = known
    .map((candidate) => {
      const isPart = wrong.length > 2 && bare(candidate).endsWith(`_${wrong}`);
      return { candidate, distance: isPart ? 1 : leven(wrong, bare(candidate)) };
    })
    .sort((a, b) => a.distance - b.distance);
  const [first] = ranked;
  return first !== undefined && first.distance <= Math.max(3, wrong.length / 2) ? first.candidate : undefined;
}

function bare(name: string): string {
  return name.toUpperCase().replace(/^DOCMIRROR_/, "");
}

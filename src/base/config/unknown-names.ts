import { nearestNames } from "./nearest-names.ts";
import { SETTING_KEYS, SETTINGS } from "./settings.ts";

/**
 * A fault for each variable that looks like a docmirror setting but is not one, with the nearest known name.
 */
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
  const [near] = nearestNames(bare(name), known.map(bare), 1);
  return known.find((candidate) => bare(candidate) === near);
}

function bare(name: string): string {
  return name.toUpperCase().replace(/^DOCMIRROR_/, "");
}

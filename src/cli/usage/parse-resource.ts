import { nearestNames } from "../../base/config/nearest-names.ts";
import { ConfigError } from "../../base/errors.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";

/** The resource of that name, for any command. Throws ConfigError that names the nearest one. */
export function parseResource(text: string): Resource {
  if (isResource(text)) return text;
  throw unknown([text]);
}

/** Several resources, separated by commas. Throws ConfigError that names every unknown one. */
export function parseResources(text: string): Resource[] {
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.filter((name) => !isResource(name));
  if (wrong.length > 0) throw unknown(wrong);
  return names.filter(isResource);
}

function isResource(name: string): name is Resource {
  return RESOURCES.some((resource) => resource === name);
}

function unknown(names: readonly string[]): ConfigError {
  const sentences = names.map((name) => {
    const [near] = nearestNames(name, RESOURCES, 1);
    return `Unknown resource '${name}'${near === undefined ? "" : `; did you mean ${near}?`}`;
  });
  return new ConfigError(sentences.join("\n"), { hint: `there are ${RESOURCES.join(", ")}` });
}

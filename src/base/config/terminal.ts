import type { Environment } from "./find-given.ts";

/**
 * Whether to colour a stream. `--no-color` and `NO_COLOR` (not empty) say no. Else `FORCE_COLOR` decides (0
 * and false say no). Else a terminal that is not `TERM=dumb` has colours.
 */
export function wantsColour(
  stream: { isTty: boolean; noColorFlag?: boolean },
  env: Environment = process.env,
): boolean {
  if (stream.noColorFlag || (env.NO_COLOR ?? "") !== "") return false;
  const force = env.FORCE_COLOR ?? "";
  if (force !== "") return force !== "0" && force !== "false";
  return stream.isTty && env.TERM !== "dumb";
}

/** Whether lines can be redrawn, as progress bars need. Not in CI, whose logs keep every frame. */
export function canRedraw(stream: { isTty: boolean }, env: Environment = process.env): boolean {
  return stream.isTty && env.TERM !== "dumb" && (env.CI ?? "") === "";
}

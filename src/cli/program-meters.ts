import { createMeters, type Meters } from "../metrics/meters.ts";
import { readVersion } from "../version.ts";

/** The meters of this process, which say what it is. */
export function createProgramMeters(): Meters {
  return createMeters({ version: readVersion(), node: process.version });
}

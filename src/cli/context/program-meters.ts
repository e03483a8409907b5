import { createMeters, type Meters } from "../../base/metrics/meters.ts";
import { readVersion } from "../../base/version.ts";

/** The meters of this process, which say what it is. */
export function createProgramMeters(): Meters {
  return createMeters({ version: readVersion(), node: process.version });
}

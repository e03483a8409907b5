import type { NormalizedRecord } from "../normalize/normalized.ts";

/** A record and when the reply that held it was here. */
export interface Sighting {
  record: NormalizedRecord;
  observedAt: string;
}

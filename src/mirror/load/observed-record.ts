import type { NormalizedRecord } from "../normalize/record.ts";

/** The source of a reply. Its content was true at some moment between the request and the arrival. */
export interface Observation {
  /** When the request was sent. */
  askedAt: string;
  /** When the reply arrived. */
  observedAt: string;
  /** The requested path and query; null when it was not stored. */
  request: string | null;
}

/** A record and the reply that held it. */
export interface ObservedRecord extends Observation {
  record: NormalizedRecord;
}

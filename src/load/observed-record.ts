import type { NormalizedRecord } from "../normalize/normalized.ts";

/** Where and when a reply came from: what it shows was so at some moment between the asking and the arrival. */
export interface Observation {
  /** When the request was sent. */
  askedAt: string;
  /** When the reply was here. */
  observedAt: string;
  /** The path and query that was asked for; null where it was not kept. */
  request: string | null;
}

/** A record and the reply that held it. */
export interface ObservedRecord extends Observation {
  record: NormalizedRecord;
}

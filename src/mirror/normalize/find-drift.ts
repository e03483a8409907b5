import type { Resource } from "../../resources/resources.ts";
import type { NormalizedRecord } from "./normalized.ts";
import { PLANS } from "./record-plan.ts";

/** A way in which a record differs from the interface as documented. */
export interface FieldDrift {
  field: string;
  kind: "appeared" | "vanished" | "type_changed";
  /** Describes what came, but never holds the value. */
  detail: string;
}

/** The most differences reported for one page: a hostile server may send any number of fields. */
const MAX_DRIFT = 100;

/** Finds how the records of a page differ from the documented fields. Each difference is reported once. */
export function findDrift(resource: Resource, records: readonly NormalizedRecord[]): FieldDrift[] {
  const { isDocumented } = PLANS[resource];
  const found = new Map<string, FieldDrift>();
  const add = (drift: FieldDrift) => {
    if (found.size < MAX_DRIFT) found.set(`${drift.kind} ${drift.field} ${drift.detail}`, drift);
  };
  for (const { extra, columns } of records) {
    if (extra === null) continue;
    for (const field of extra.missing ?? []) add({ field, kind: "vanished", detail: "missing in records" });
    for (const [field, value] of Object.entries(extra.values ?? {})) {
      if (!isDocumented.has(field)) add({ field, kind: "appeared", detail: "in records" });
      // A date that is only written in another way fills its column, so it is no drift.
      else if (typeof columns[field] !== "string")
        add({ field, kind: "type_changed", detail: `${nameOf(value)} in records` });
    }
  }
  return [...found.values()];
}

function nameOf(value: unknown): string {
  if (typeof value === "string") return "an unreadable text";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

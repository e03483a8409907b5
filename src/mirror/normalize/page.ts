import { foreignNumberIn, isDamaged } from "../../resources/parse-json.ts";
import { otherResource, recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import {
  type EmbeddedProjects,
  type NormalizeContext,
  type NormalizedRecord,
  normalizeRecord,
  type RejectedRecord,
  type RepeatedProject,
} from "./record.ts";
import { hashRecord } from "./record-hash.ts";
import { PLANS } from "./record-plan.ts";

export interface NormalizedPage {
  resource: Resource;
  records: NormalizedRecord[];
  embeddedProjects: NormalizedRecord[];
  /** Embedded projects that are not in `embeddedProjects`, because they equal the newest loaded copies. */
  repeatedProjects: RepeatedProject[];
  rejected: RejectedRecord[];
  /** The ids of records with characters in the place of bytes that did not fit; "" for a record without an id. */
  damaged: string[];
  /** Texts in which a U+0000 was replaced. */
  replacedNul: number;
}

/**
 * Turns the records of one reply into rows. A bad record is returned as rejected; the others are not
 * affected.
 */
export function normalizePage(
  resource: Resource,
  records: readonly unknown[],
  baseUrl: URL,
  isAlreadyLoaded?: NormalizeContext["isAlreadyLoaded"],
): NormalizedPage {
  const context: NormalizeContext = { baseUrl, replacements: { nul: 0 }, isAlreadyLoaded };
  const projects = createEmbeddedProjects(context);
  const page: NormalizedPage = {
    resource,
    records: [],
    embeddedProjects: [],
    repeatedProjects: [],
    rejected: [],
    damaged: [],
    replacedNul: 0,
  };
  for (const record of records) {
    const id = recordId(record);
    if (isDamaged(record)) page.damaged.push(id ?? "");
    if (id === null) {
      page.rejected.push({
        recordId: null,
        reason: "the record has no id that can be stored",
        payload: record,
      });
      continue;
    }
    const foreign = foreignNumberIn(record);
    if (foreign !== null) {
      const reason = `the record holds ${foreign}, a number that JSON does not have`;
      page.rejected.push({ recordId: id, reason, payload: record });
      continue;
    }
    const other = otherResource(record, resource, baseUrl);
    if (other !== null) {
      const reason = `its resource_uri names a ${other.slice(0, 40)}, not a ${resource}`;
      page.rejected.push({ recordId: id, reason, payload: record });
      continue;
    }
    try {
      page.records.push(
        normalizeRecord(resource, id, record as Record<string, unknown>, context, { projects }),
      );
    } catch (error) {
      page.rejected.push({
        recordId: id,
        reason: `the record cannot be read: ${(error as Error).message}`,
        payload: record,
      });
    }
  }
  page.embeddedProjects = projects.all();
  page.repeatedProjects = projects.repeated();
  page.replacedNul = context.replacements.nul;
  return page;
}

function createEmbeddedProjects(context: NormalizeContext): EmbeddedProjects {
  const copies = new Map<string, { record: Record<string, unknown>; hash: string }[]>();
  const news: NormalizedRecord[] = [];
  const repeated: RepeatedProject[] = [];
  return {
    add(value) {
      const id = recordId(value);
      if (id === null) return null;
      const record = value as Record<string, unknown>;
      const known = copies.get(id);
      if (known?.some((copy) => isSameRecord(copy.record, record))) return id;
      const hash = hashRecord(record, PLANS.project, null);
      if (known?.some((copy) => copy.hash === hash)) return id;
      if (known) known.push({ record, hash });
      else copies.set(id, [{ record, hash }]);
      const normalize = () => normalizeRecord("project", id, record, context, { hash });
      if (context.isAlreadyLoaded?.(id, hash) === true) repeated.push({ id, hash, normalize });
      else news.push(normalize());
      return id;
    },
    all: () => news,
    repeated: () => repeated,
  };
}

/**
 * Whether two records are equal field by field. Lists are compared element by element. Deeper values count as
 * different; then the hashes decide.
 */
function isSameRecord(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => {
    if (!Object.hasOwn(other, key)) return false;
    const [left, right] = [one[key], other[key]];
    if (left === right) return true;
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((element, index) => element === right[index])
    );
  });
}

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

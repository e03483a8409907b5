import { ExactNumber, foreignNumberIn, isDamaged } from "../../resources/parse-json.ts";
import { otherResource, recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import {
  hashOf,
  type NormalizeContext,
  type NormalizedRecord,
  normalizeRecord,
  type ReadAs,
} from "./record.ts";
import { PLANS } from "./record-plan.ts";

/** True where the newest loaded copy of an embedded project has this hash. Then it is not normalized again. */
type IsAlreadyLoaded = (id: string, hash: string) => boolean;

/** A copy of a project that equals the newest loaded one, to be normalized only if another one came meanwhile. */
interface RepeatedProject {
  id: string;
  hash: string;
  normalize(): NormalizedRecord;
}

/** The records of one reply as rows. */
export interface NormalizedPage {
  resource: Resource;
  records: NormalizedRecord[];
  /** Every distinct new copy, in the order of arrival. */
  embeddedProjects: NormalizedRecord[];
  repeatedProjects: RepeatedProject[];
  rejected: RejectedRecord[];
  /** The ids of records with characters in the place of bytes that did not fit; "" for a record without an id. */
  damaged: string[];
  replacedNul: number;
}

/** A record that cannot become a row. Its payload is kept for inspection. */
export interface RejectedRecord {
  recordId: string | null;
  reason: string;
  payload: unknown;
}

/** Turns the records of one reply into rows. A bad record is returned as rejected; the others are not affected. */
export function normalizePage(
  resource: Resource,
  records: readonly unknown[],
  { baseUrl, sourceTimezone, ignoredFields = null }: ReadAs,
  isAlreadyLoaded?: IsAlreadyLoaded,
): NormalizedPage {
  const context: NormalizeContext = { baseUrl, sourceTimezone, ignoredFields, replacements: { nul: 0 } };
  const projects = createEmbeddedProjects(context, isAlreadyLoaded);
  const read: NormalizedRecord[] = [];
  const rejected: RejectedRecord[] = [];
  const damaged: string[] = [];
  for (const record of records) {
    const id = recordId(record);
    if (isDamaged(record)) damaged.push(id ?? "");
    const fault = faultOf(record, id, resource, baseUrl);
    if (id === null || fault !== null) {
      rejected.push({ recordId: id, reason: fault ?? "", payload: record });
      continue;
    }
    try {
      read.push(normalizeRecord(resource, id, record as Record<string, unknown>, context, projects));
    } catch (error) {
      const reason = `the record cannot be read: ${(error as Error).message}`;
      rejected.push({ recordId: id, reason, payload: record });
    }
  }
  return {
    resource,
    records: read,
    embeddedProjects: projects.news,
    repeatedProjects: projects.repeated,
    rejected,
    damaged,
    replacedNul: context.replacements.nul,
  };
}

function faultOf(record: unknown, id: string | null, resource: Resource, baseUrl: URL): string | null {
  if (id === null) return "the record has no id that can be stored";
  const foreign = foreignNumberIn(record);
  if (foreign !== null) return `the record holds ${foreign}, a number that JSON does not have`;
  const other = otherResource(record, resource, baseUrl);
  return other === null ? null : `its resource_uri names a ${other.slice(0, 40)}, not a ${resource}`;
}

/** Many records of a page hold the same project, so equal copies are hashed and normalized once. */
function createEmbeddedProjects(context: NormalizeContext, isAlreadyLoaded?: IsAlreadyLoaded) {
  const copies = new Map<string, { record: Record<string, unknown>; hash: string }[]>();
  const news: NormalizedRecord[] = [];
  const repeated: RepeatedProject[] = [];
  return {
    news,
    repeated,
    /** The id of the embedded project, or null when `value` is not a project. */
    add(value: unknown): string | null {
      const id = recordId(value);
      if (id === null) return null;
      const record = value as Record<string, unknown>;
      const known = copies.get(id) ?? [];
      if (known.some((copy) => isSameRecord(copy.record, record))) return id;
      const hash = hashOf("project", record, null, context);
      if (known.some((copy) => copy.hash === hash)) return id;
      copies.set(id, [...known, { record, hash }]);
      const normalize = () => normalizeRecord("project", id, record, context, { hash });
      if (isAlreadyLoaded?.(id, hash) === true) repeated.push({ id, hash, normalize });
      else news.push(normalize());
      return id;
    },
  };
}

/** Compares two records field by field, and lists by element. For deeper values the hashes decide. */
function isSameRecord(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => {
    if (!Object.hasOwn(other, key)) return false;
    const [left, right] = [one[key], other[key]];
    if (left === right) return true;
    if (!Array.isArray(left) || !Array.isArray(right)) return false;
    return left.length === right.length && left.every((element, index) => element === right[index]);
  });
}

/** A way in which a record differs from the interface as documented. */
export interface FieldDrift {
  field: string;
  kind: "appeared" | "vanished" | "type_changed" | "unsteady";
  /** Describes what came, but never holds the value. */
  detail: string;
}

/** The most differences reported for one page: a hostile server may send any number of fields. */
const MAX_DRIFT = 100;

/** The differences of the records of a page from the documented fields, each once. */
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
      // A date or boolean that is only written in another way fills its column, so it is no drift.
      else if ((columns[field] ?? null) === null)
        add({ field, kind: "type_changed", detail: `${nameOf(value)} in records` });
    }
  }
  return [...found.values()];
}

function nameOf(value: unknown): string {
  if (typeof value === "string") return "an unreadable text";
  if (value instanceof ExactNumber) return "a number";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

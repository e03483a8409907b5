import type { FieldKinds } from "../../resources/fields.ts";
import { recordId } from "../../resources/record-id.ts";
import { otherResource } from "../../resources/resource-uri.ts";
import { cleanText } from "./clean-text.ts";
import { fieldReference } from "./field-reference.ts";
import type { NormalizeContext, NormalizedRecord, RepeatedProject } from "./normalized.ts";
import { hashProject, normalizeProject } from "./project.ts";
import { keepInExtra, normalizeFields } from "./record.ts";
import { hashRecord } from "./record-hash.ts";

/**
 * Collects the embedded projects of one page. Many records of a page hold the same project, so equal copies
 * are hashed and normalized once. A copy that an earlier page has already brought is not normalized again.
 */
export interface EmbeddedProjects {
  /** The id of the embedded project, or null when `value` is not a project. */
  add(value: unknown): string | null;
  /** Every distinct new copy, in the order of arrival. */
  all(): NormalizedRecord[];
  /** The copies that equal the newest loaded ones. */
  repeated(): RepeatedProject[];
}

export function createEmbeddedProjects(context: NormalizeContext): EmbeddedProjects {
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
      const hash = hashProject(record);
      if (known?.some((copy) => copy.hash === hash)) return id;
      if (known) known.push({ record, hash });
      else copies.set(id, [{ record, hash }]);
      const normalize = () => normalizeProject(id, record, context, hash);
      if (context.isAlreadyLoaded?.(id, hash) === true) repeated.push({ id, hash, normalize });
      else news.push(normalize());
      return id;
    },
    all: () => news,
    repeated: () => repeated,
  };
}

/** Normalizes a record whose `project` is the whole project (versions and files). */
export function normalizeWithProject(
  id: string,
  record: Record<string, unknown>,
  kinds: FieldKinds,
  context: NormalizeContext,
  projects: EmbeddedProjects,
): NormalizedRecord {
  const { columns, extra, related } = normalizeFields(record, kinds, context.replacements);
  const normalized: NormalizedRecord = {
    id,
    hash: "",
    columns,
    extra,
    references: [],
    projectId: null,
    logs: null,
  };
  if (Object.hasOwn(related, "project")) {
    const { project } = related;
    const other = otherResource(project, "project", context.baseUrl);
    if (other !== null)
      throw new Error(`the resource_uri of its project names a ${other.slice(0, 40)}, not a project`);
    normalized.projectId = projects.add(project);
    if (normalized.projectId === null && project !== null) {
      normalized.extra = keepInExtra(extra, "project", project, context.replacements);
      if (typeof project === "string") {
        const uri = cleanText(project, context.replacements);
        normalized.references.push(fieldReference("project", 0, uri, context));
      }
    }
  }
  normalized.hash = hashRecord(record, ["id", ...Object.keys(kinds)], normalized.projectId);
  return normalized;
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

import { recordId } from "../../resources/record-id.ts";
import type { EmbeddedProjects, NormalizeContext, NormalizedRecord, RepeatedProject } from "./normalized.ts";
import { normalizeRecord } from "./record.ts";
import { hashRecord } from "./record-hash.ts";
import { PLANS } from "./record-plan.ts";

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

import { isDamaged } from "../../resources/damaged-records.ts";
import { foreignNumberIn } from "../../resources/parse-json.ts";
import { recordId } from "../../resources/record-id.ts";
import { otherResource } from "../../resources/resource-uri.ts";
import type { Resource } from "../../resources/resources.ts";
import { createEmbeddedProjects } from "./embedded-project.ts";
import type { NormalizeContext, NormalizedRecord, RejectedRecord, RepeatedProject } from "./normalized.ts";
import { normalizeRecord } from "./record.ts";

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

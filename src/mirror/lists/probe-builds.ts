import { firstRequest, requestText } from "../../resources/page-request.ts";
import type { Client } from "../api/client.ts";
import { type FieldDrift, findDrift, normalizePage } from "../normalize/page.ts";
import { type ParsedPage, parseListPage } from "../walk/page.ts";

export interface BuildProbe {
  /** The count of the list; null when it has none. */
  totalCount: number | null;
  /** The id of the newest build; null when there is none, or when it cannot be stored. */
  id: string | null;
  /** Why the newest build cannot be stored. */
  rejected: string | null;
  /** How its fields differ from the documented ones. */
  drift: FieldDrift[];
}

/** Asks for the first build of the list. Throws `UpstreamError`, `UnexpectedShapeError` among them. */
export async function probeBuilds(client: Client, listPath: string): Promise<BuildProbe> {
  const reply = await client.fetchJson<ParsedPage>(requestText(firstRequest(listPath, 1)), {
    parse: (value, url) => parseListPage(value, "build", url, client.baseUrl),
  });
  const records = reply.value.records.slice(0, 1);
  const page = normalizePage("build", records, client.baseUrl);
  return {
    totalCount: reply.value.meta.totalCount,
    id: page.records[0]?.id ?? null,
    rejected: page.rejected[0]?.reason ?? null,
    drift: findDrift("build", page.records),
  };
}

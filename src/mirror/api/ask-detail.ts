import { HttpStatusError, UpstreamError } from "../../base/errors.ts";
import { recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Client, FetchOptions } from "./client.ts";
import { type Detail, detailPath, fetchDetail } from "./fetch-detail.ts";

/** The answer of the detail endpoint about one record. */
export type DetailAnswer =
  | { kind: "found"; detail: Detail }
  /**
   * It answered 404 or 410 at these moments. A reply from a cache counts as asked for when the cache got it.
   */
  | { kind: "gone"; request: string; askedAt: Date; observedAt: Date }
  /** No usable answer: none at all, another status, or another record. */
  | { kind: "unclear"; error: UpstreamError | null };

/** Asks for a record by its id. Throws only errors that are not upstream's, such as a stop. */
export async function askDetail(
  client: Client,
  resource: Resource,
  id: string,
  options: Pick<FetchOptions<unknown>, "retries"> = {},
): Promise<DetailAnswer> {
  try {
    const detail = await fetchDetail(client, resource, id, options);
    if (recordId(detail.record) !== id) return { kind: "unclear", error: null };
    return { kind: "found", detail };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const isGone = error instanceof HttpStatusError && (error.status === 404 || error.status === 410);
    if (!isGone || !error.askedAt || !error.observedAt) return { kind: "unclear", error };
    const { askedAt, observedAt } = error;
    return { kind: "gone", request: detailPath(resource, id), askedAt, observedAt };
  }
}

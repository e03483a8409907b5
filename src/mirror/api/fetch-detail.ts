import type { Clock } from "../../base/clock.ts";
import { UnexpectedShapeError, UpstreamError } from "../../base/errors.ts";
import { recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Client, FetchOptions } from "./client.ts";
import { isGone } from "./fates.ts";

/** The closing slash saves a redirect. */
const detailPath = (resource: Resource, key: string) => `/api/v1/${resource}/${encodeURIComponent(key)}/`;

/** A record by itself, and the moments between which the service had it so. */
export interface Detail {
  record: unknown;
  request: string;
  askedAt: Date;
  observedAt: Date;
}

/** By id, or a project by its slug. Throws `UnexpectedShapeError` for a list, and for a key that no path can hold. */
export async function fetchDetail(
  client: Client,
  resource: Resource,
  key: string,
  options: Pick<FetchOptions<unknown>, "kind" | "retries"> = {},
): Promise<Detail> {
  const request = detailPath(resource, key);
  // Steps out of the resource, also behind a slash that is decoded.
  if (key.split(/[/\\]/).some((part) => part === "." || part === "..")) {
    const message = `a ${resource} cannot be asked for by '${key}', because that leads elsewhere`;
    throw new UnexpectedShapeError(message, { url: new URL(`/api/v1/${resource}/`, client.baseUrl).href });
  }
  const reply = await client.fetchJson(request, {
    kind: "details",
    ...options,
    parse(value, url): { record: unknown } {
      if (recordId(value) !== null) return { record: value };
      const isList = Array.isArray((value as { objects?: unknown } | null)?.objects);
      const came = isList ? "a list" : "no record with an id";
      const message = `GET ${url} should answer with one ${resource}, but ${came} came`;
      throw new UnexpectedShapeError(message, { url });
    },
  });
  return { record: reply.value.record, request, askedAt: reply.sentAt, observedAt: reply.receivedAt };
}

/** A time limit, so that a slow service cannot make a night endless. */
const MAX_MS = 30 * 60_000;

/** Asks batch by batch, until the time is up or the host is lost. Returns how many had their turn. */
export async function askInBatches<T>(
  { client, clock, signal }: { client: Client; clock: Clock; signal: AbortSignal },
  due: readonly T[],
  size: number,
  ask: (batch: readonly T[]) => Promise<unknown>,
): Promise<number> {
  const endsAt = clock.now().getTime() + MAX_MS;
  let asked = 0;
  while (asked < due.length && !client.lost.aborted && clock.now().getTime() < endsAt) {
    signal.throwIfAborted();
    const batch = due.slice(asked, asked + size);
    asked += batch.length;
    await ask(batch);
  }
  return asked;
}

/** The answer of the detail endpoint about one record. */
export type DetailAnswer =
  | { kind: "found"; detail: Detail }
  /** It answered 404 or 410 at these moments. A cache's reply counts as asked for when the cache got it. */
  | { kind: "gone"; request: string; askedAt: Date; observedAt: Date }
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
    if (!isGone(error) || !error.askedAt || !error.observedAt) return { kind: "unclear", error };
    const { askedAt, observedAt } = error;
    return { kind: "gone", request: detailPath(resource, id), askedAt, observedAt };
  }
}

import { NotFoundError, UnexpectedShapeError } from "../base/errors.ts";
import type { Client } from "../mirror/api/client.ts";
import { isGone } from "../mirror/api/retry.ts";
import { isJsonObject } from "../resources/json-object.ts";
import type { Resource } from "../resources/resources.ts";
import { ROOT_PATH, recordPath } from "./endpoint-path.ts";
import { parseRecord, type RecordChecks } from "./parse-record.ts";
import { parseRoot, type RootListing } from "./parse-root.ts";
import type { RecordOf } from "./records.ts";
import type { CallOptions } from "./service-client.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** Asks for the root listing. A 404 here means that the base URL is wrong, and is an `UnexpectedShapeError`. */
export async function fetchRoot(client: Client, { signal }: CallOptions): Promise<RootListing> {
  try {
    const reply = await client.fetchJson(ROOT_PATH, { parse: parseRoot, ...(signal && { signal }) });
    return reply.value ?? {};
  } catch (error) {
    if (!isGone(error)) throw error;
    const { url, message } = error;
    const hint = "the base URL is the part before /api/v1/";
    throw new UnexpectedShapeError(message, { url, cause: error, hint });
  }
}

/** Asks for one record by id, or by slug. Throws `NotFoundError` when the service has no such record. */
export async function fetchRecord<R extends Resource>(
  client: Client,
  resource: R,
  key: string,
  { signal, allowOddFields }: CallOptions & Pick<RecordChecks, "allowOddFields">,
): Promise<RecordOf[R]> {
  const checks = { ...(allowOddFields !== undefined && { allowOddFields }) };
  try {
    const reply = await client.fetchJson(recordPath(resource, key), {
      parse: (value, url) => parseDetail(resource, key, value, { ...checks, url }),
      ...(signal && { signal }),
    });
    return reply.value as RecordOf[R];
  } catch (error) {
    return throwNoRecord(error, client, `The service has no ${resource} ${key}`, signal);
  }
}

function parseDetail<R extends Resource>(
  resource: R,
  key: string,
  value: unknown,
  checks: RecordChecks,
): RecordOf[R] {
  if (isJsonObject(value) && Array.isArray(value.objects)) {
    const hint =
      resource === "version"
        ? "a version has an id; versionsOf lists the versions of a project"
        : `list the ${resource}s, with a filter`;
    throw unexpectedShape(checks.url, `with a list of ${resource}s instead of one`, hint);
  }
  const record = parseRecord(resource, value, checks);
  // A cache in front of the service may mix replies up.
  if (/^\d+$/.test(key) && record.id !== key.replace(/^0+(?=\d)/, ""))
    throw unexpectedShape(checks.url, `with ${resource} ${record.id.slice(0, 40)}`);
  return record;
}

/** Turns a 404 or 410 into a NotFoundError. A wrong base URL gives a 404 too, so the root listing is read first. */
export async function throwNoRecord(
  error: unknown,
  client: Client,
  message: string,
  signal: AbortSignal | undefined,
): Promise<never> {
  if (!isGone(error)) throw error;
  await fetchRoot(client, { signal });
  throw new NotFoundError(message, { cause: error });
}

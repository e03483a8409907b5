import { attachReply, NotFoundError, UnexpectedShapeError } from "../base/errors.ts";
import type { FetchOptions } from "../mirror/api/client.ts";
import { isGone } from "../mirror/api/retry.ts";
import { isJsonObject } from "../resources/json-object.ts";
import type { Resource } from "../resources/resources.ts";
import type { Answer } from "./answer.ts";
import { ROOT_PATH, recordPath } from "./endpoint-path.ts";
import { parseRecord, type RecordChecks } from "./parse-record.ts";
import { parseRoot, type RootListing } from "./parse-root.ts";
import type { RecordOf } from "./records.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** Asks for a path, with the options of one call. */
export type Ask = <T>(path: string, parse: FetchOptions<T>["parse"]) => Promise<Answer<T>>;

/** Asks for the root listing. A 404 here means that the base URL is wrong, and is an `UnexpectedShapeError`. */
export async function fetchRoot(ask: Ask): Promise<Answer<RootListing>> {
  try {
    return await ask(ROOT_PATH, parseRoot);
  } catch (error) {
    if (!isGone(error)) throw error;
    const { url, message, reply, body } = error;
    const hint = "the base URL is the part before /api/v1/";
    const wrong = new UnexpectedShapeError(message, { url, cause: error, hint });
    throw reply === undefined ? wrong : attachReply(wrong, reply, body);
  }
}

/** Asks for one record by id, or by slug. Throws `NotFoundError` when the service has no such record. */
export async function fetchRecord<R extends Resource>(
  ask: Ask,
  resource: R,
  key: string,
  checks: Omit<RecordChecks, "url">,
): Promise<Answer<RecordOf[R]>> {
  try {
    return await ask(recordPath(resource, key), (value, url) =>
      parseDetail(resource, key, value, { ...checks, url }),
    );
  } catch (error) {
    return throwNoRecord(error, ask, `The service has no ${resource} ${key}`);
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
export async function throwNoRecord(error: unknown, ask: Ask, message: string): Promise<never> {
  if (!isGone(error)) throw error;
  await fetchRoot(ask);
  throw new NotFoundError(message, { cause: error });
}

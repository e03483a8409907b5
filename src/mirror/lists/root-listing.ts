import { HttpStatusError, UnexpectedShapeError } from "../../base/errors.ts";
import { firstRequest, requestText } from "../../resources/page-request.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import { frontOf } from "../../resources/record-id.ts";
import { isResource, RESOURCES, type RootEndpoints } from "../../resources/resources.ts";
import { apiUrl, ROOT_PATH } from "../api/api-url.ts";
import type { Client } from "../api/client.ts";
import { fateOf } from "../api/fates.ts";
import { cleanText } from "../normalize/clean-text.ts";
import { findDrift, normalizePage } from "../normalize/page.ts";
import { type ParsedPage, parseListPage } from "../walk/page.ts";

const MAX_UNKNOWN = 20;
const MAX_NAME_LENGTH = 100;

export interface ServiceRoot {
  resources: RootEndpoints;
  /** Names of resources that docmirror does not know, shortened and cleaned. */
  unknown: string[];
}

/** Requests the root listing. Throws `UnexpectedShapeError` for another interface: a wrong base URL. */
export async function fetchRootListing(client: Client): Promise<ServiceRoot> {
  const hint = `check DOCMIRROR_BASE_URL: ${client.baseUrl.origin}${client.baseUrl.pathname} should be the part before /api/v1/`;
  try {
    const parse = (value: unknown, url: string) => parseRoot(value, url, client);
    return (await client.fetchJson(ROOT_PATH, { kind: "root", parse })).value;
  } catch (error) {
    const fate = fateOf(error);
    if (!(error instanceof HttpStatusError) || fate?.again !== 0) throw error;
    const { url, message } = error;
    // A refusal of the reader says nothing of the address, so the base URL may be right.
    const advice = fate.about === "reader" ? error.hint : hint;
    throw new UnexpectedShapeError(message, { url, cause: error, hint: advice });
  }
}

function parseRoot(value: unknown, url: string, client: Client): ServiceRoot {
  const resources: RootEndpoints = {};
  const root = isJsonObject(value) ? value : {};
  const links = RESOURCES.flatMap((resource) => readEndpoints(root[resource])?.list_endpoint ?? []);
  // A server behind a proxy names all of them as it sees itself. One that differs from the others leads elsewhere.
  const isOneView = new Set(links.map(frontOf)).size === 1;
  const toPath = (link: string) =>
    apiUrl(link, client.baseUrl) ? link : isOneView && link.slice(frontOf(link).length);
  for (const resource of RESOURCES) {
    const { list_endpoint, schema = `${ROOT_PATH}${resource}/schema/` } = readEndpoints(root[resource]) ?? {};
    const path = list_endpoint !== undefined && toPath(list_endpoint);
    if (path && apiUrl(path, client.baseUrl))
      resources[resource] = { list_endpoint: path, schema: toPath(schema) || schema };
  }
  if (Object.keys(resources).length === 0) {
    const should = `GET ${url} should list the resources ${RESOURCES.join(", ")} with their endpoints`;
    const hint = "check DOCMIRROR_BASE_URL: it is the part before /api/v1/";
    throw new UnexpectedShapeError(`${should}, but has none of them`, { url, hint });
  }
  const unknown = Object.entries(root)
    .filter(([name, endpoints]) => !isResource(name) && readEndpoints(endpoints) !== null)
    .slice(0, MAX_UNKNOWN)
    .map(([name]) => cleanText(name.slice(0, MAX_NAME_LENGTH), { nul: 0 }));
  return { resources, unknown };
}

function readEndpoints(value: unknown): { list_endpoint: string; schema?: string | undefined } | null {
  if (!isJsonObject(value)) return null;
  const { list_endpoint, schema } = value;
  if (typeof list_endpoint !== "string" || !(schema === undefined || typeof schema === "string")) return null;
  return { list_endpoint, schema };
}

/** Asks for the first build. `id` is null when there is none, or when it is `rejected`. Throws `UpstreamError`. */
export async function probeBuilds(client: Client, listPath: string) {
  const reply = await client.fetchJson<ParsedPage>(requestText(firstRequest(listPath, 1)), {
    parse: (value, url) => parseListPage(value, "build", url, client),
  });
  const records = reply.value.records.slice(0, 1);
  const page = normalizePage("build", records, client);
  return {
    totalCount: reply.value.meta.totalCount,
    id: page.records[0]?.id ?? null,
    rejected: page.rejected[0]?.reason ?? null,
    drift: findDrift("build", page.records),
  };
}

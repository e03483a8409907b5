import { readFileSync } from "node:fs";
import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { describeSchema, renderJson } from "../../src/serve/protocol/replies.ts";
import { wholeRecord } from "./wire-records.ts";

export interface Exchange {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}

type Json = Record<string, unknown>;

const ROOT = "/api/v1/";
const RECORD = /^\/api\/v1\/(\w+)\/\w+\/$/;
const SCHEMA = /^\/api\/v1\/(\w+)\/schema\/$/;

/**
 * What a real server answered; see test/fixtures/recorded/README.md. It knew nothing of the fields and resources that were
 * declared later. Its replies get these as a whole record has them; any other reply stays byte for byte.
 */
export function recordedExchanges(): Exchange[] {
  const file = new URL("../fixtures/recorded/exchanges.jsonl", import.meta.url);
  // At \n alone: the texts hold other line separators.
  const recorded = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Exchange);
  const paths = new Set(recorded.map(({ path }) => path));
  const later = RESOURCES.filter((resource) => !paths.has(`${ROOT}${resource}/`));
  return [...recorded.map(completed), ...later.flatMap(repliesOf)];
}

function completed(exchange: Exchange): Exchange {
  if (exchange.status !== 200 || !exchange.body.startsWith("{")) return exchange;
  const [path = ""] = exchange.path.split("?");
  let isOld = false;
  const complete = (recorded: Json, whole: Json): Json => {
    if (Object.keys(whole).every((name) => Object.hasOwn(recorded, name))) return recorded;
    isOld = true;
    return { ...whole, ...recorded };
  };
  const reply = JSON.parse(exchange.body, (_, value) => {
    const resource = RECORD.exec(String(value?.resource_uri))?.[1];
    return resource ? complete(value, wholeRecord(resource as Resource, value.id)) : value;
  });
  const schemaOf = SCHEMA.exec(path)?.[1];
  if (schemaOf) {
    const { fields, filtering } = describeSchema(schemaOf as Resource, "/api/v1") as Record<string, Json>;
    const isLater = ([name]: [string, unknown]) => !Object.hasOwn(reply.fields, name);
    const filters = Object.entries(filtering ?? {}).filter(isLater);
    if (filters.length > 0) reply.filtering = { ...reply.filtering, ...Object.fromEntries(filters) };
    reply.fields = complete(reply.fields, fields ?? {});
  }
  const today = path === ROOT ? complete(reply, Object.fromEntries(RESOURCES.map(endpointsOf))) : reply;
  return isOld ? { ...exchange, body: renderJson(today).toString() } : exchange;
}

const endpointsOf = (resource: Resource) =>
  [resource, { list_endpoint: `${ROOT}${resource}/`, schema: `${ROOT}${resource}/schema/` }] as const;

/** The replies of a resource that the server did not have: its list in one page, its schema, and a detail. */
function repliesOf(resource: Resource): Exchange[] {
  const path = `${ROOT}${resource}/`;
  const objects = Array.from({ length: 8 }, (_, at) => wholeRecord(resource, String(at + 1)));
  const page = (limit: number) => ({
    meta: { limit, next: null, offset: 0, previous: null, total_count: objects.length },
    objects,
  });
  const replies: [path: string, body: unknown][] = [
    [path, page(20)],
    [`${path}?format=json&limit=100`, page(100)],
    [`${path}schema/`, describeSchema(resource, "/api/v1")],
    [`${path}1/`, objects[0]],
  ];
  const get = { method: "GET", status: 200, headers: { "content-type": "application/json" } };
  const redirect = { "content-type": "text/html; charset=utf-8", location: `${path}1/` };
  return [
    ...replies.map(([of, body]) => ({ ...get, path: of, body: renderJson(body).toString() })),
    { ...get, path: `${path}1`, status: 301, headers: redirect, body: "" },
  ];
}

import { readVersion } from "../src/base/version.ts";
import { DECLARATIONS, RESOURCES, type Resource } from "../src/resources/resources.ts";
import { MAX_BODY_BYTES, MAX_URL_LENGTH } from "../src/serve/http/app.ts";
import { MAX_HEADER_BYTES, REQUEST_WITHIN_MS } from "../src/serve/http/server.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "../src/serve/protocol/paging.ts";
import {
  filterParameters,
  type JsonSchema,
  MOMENT,
  nameOf,
  type Parameter,
  recordSchemas,
  schemaRef,
} from "./record-schemas.ts";

/** The description of the interface, OpenAPI 3.1: each path with its parameters and replies. The server sends this file. */
export const openApi = (): string => `${JSON.stringify(describeInterface(), null, 2)}\n`;

function describeInterface(): Record<string, unknown> {
  return {
    openapi: "3.1.0",
    info: {
      title: "docmirror",
      version: readVersion(),
      summary: "The public read-only API of a documentation hosting service, answered from a mirror.",
      description:
        "Every path answers GET, HEAD and OPTIONS. A path without its closing slash is answered as with it. " +
        "A parameter that a path does not know has no effect. " +
        "Filters lead across further references, as `project__users__username` does.",
    },
    servers: [{ url: "/" }],
    // There is no login, and a reader should not look for one.
    security: [],
    paths: describePaths(),
    components: { schemas: describeSchemas(), parameters: PARAMETERS, headers: HEADERS, responses: REPLIES },
  };
}

function describePaths(): Record<string, unknown> {
  const paths: Record<string, unknown> = {
    "/api/v1/": operation("root", "The lists and schemas of all resources", [], schemaRef("Root")),
  };
  for (const resource of RESOURCES) {
    const name = nameOf(resource);
    const [record, page] = [schemaRef(name), schemaRef(`${name}Page`)];
    const isList = DECLARATIONS[resource].listedBy !== undefined;
    paths[`/api/v1/${resource}/`] = operation(
      `list${name}s`,
      `A page of the list of ${resource}s`,
      [...["format", "limit", "offset"].map(parameterRef), ...filterParameters(resource)],
      page,
      { "400": replyRef("RefusedList") },
    );
    paths[`/api/v1/${resource}/{key}/`] = operation(
      `find${name}`,
      `One ${resource}`,
      [keyOf(resource), parameterRef("format")],
      isList ? { anyOf: [record, page] } : record,
      { "404": replyRef("NoRecord"), ...(isList && { "400": replyRef("RefusedList") }) },
    );
    paths[`/api/v1/${resource}/schema/`] = operation(
      `describe${name}`,
      `The fields of a ${resource}, as the service described them`,
      [parameterRef("format")],
      schemaRef("Schema"),
    );
  }
  const fromOne = { type: "integer", minimum: 1, default: 1 };
  const pageNumber = inQuery("page", "The number of the page, from 1.", fromOne);
  paths["/api/v1/file/search/"] = operation(
    "searchFiles",
    "Files whose text has all words; 20 to a page",
    [...["format", "words"].map(parameterRef), pageNumber],
    schemaRef("FileHits"),
  );
  paths["/api/v1/file/anchor/"] = operation(
    "searchAnchors",
    "Addresses of the anchors whose text has all words; at most 50",
    ["format", "words"].map(parameterRef),
    schemaRef("AnchorHits"),
  );
  paths["/api/v2/docsearch/"] = operation(
    "searchDocs",
    "Pages of one project whose text has all words; at most 50",
    [
      parameterRef("format"),
      { ...inQuery("q", "The words.", SOME_TEXT), required: true },
      { ...inQuery("project", "The slug of the project.", SOME_TEXT), required: true },
      inQuery("version", "The slug of the version.", { type: "string", default: "latest" }),
    ],
    schemaRef("DocHits"),
    { "404": { description: "There is no such project.", content: ofJson(schemaRef("Error")) } },
  );
  return paths;
}

const TEXT: JsonSchema = { type: "string" };
const SOME_TEXT: JsonSchema = { type: "string", minLength: 1 };

/** An object with all of these properties. */
const wholeObject = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
});

const ofJson = (schema: JsonSchema) => ({ "application/json": { schema } });
const parameterRef = (name: string) => ({ $ref: `#/components/parameters/${name}` });
const replyRef = (name: string) => ({ $ref: `#/components/responses/${name}` });
const headerRefs = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const VALIDATORS = headerRefs("ETag", "Last-Modified", "Vary");

function operation(
  operationId: string,
  summary: string,
  parameters: readonly (Parameter | { $ref: string })[],
  schema: JsonSchema,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    get: {
      operationId,
      summary,
      parameters,
      responses: {
        "200": { description: summary, headers: VALIDATORS, content: ofJson(schema) },
        "304": replyRef("NotModified"),
        "400": replyRef("Refused"),
        "405": replyRef("NotAllowed"),
        "406": replyRef("NotAcceptable"),
        "408": replyRef("TooSlow"),
        "413": replyRef("BodyTooLong"),
        "414": replyRef("PathTooLong"),
        "421": replyRef("WrongHost"),
        "429": replyRef("TooMany"),
        "431": replyRef("HeadersTooLong"),
        "500": replyRef("Failed"),
        "503": replyRef("Unavailable"),
        ...more,
      },
    },
  };
}

function keyOf(resource: Resource): Parameter {
  const { foundBy, listedBy } = DECLARATIONS[resource];
  const wins = "An id wins over a slug that looks like one.";
  const other = foundBy
    ? ` or the ${foundBy}`
    : `, or the slug of a ${listedBy} for a page of its ${resource}s`;
  const description = foundBy || listedBy ? `The id${other}. ${wins}` : "The id.";
  return { name: "key", in: "path", required: true, description, schema: SOME_TEXT };
}

const inQuery = (name: string, description: string, schema: JsonSchema): Parameter => {
  return { name, in: "query", description, schema };
};

const FROM_0 = { type: "integer", minimum: 0 };
const upFrom = (usual: number) => ({ ...FROM_0, default: usual });

const PARAMETERS: Record<string, Parameter> = {
  format: inQuery("format", "The format of the reply.", schemaRef("Format")),
  limit: inQuery(
    "limit",
    `The size of the page: at most ${MAX_LIMIT}, which 0 means too.`,
    upFrom(DEFAULT_LIMIT),
  ),
  offset: inQuery("offset", "How many records come before the page.", upFrom(0)),
  words: inQuery("q", "The words. Without any, nothing is found.", TEXT),
};

const HEADERS: Record<string, unknown> = {
  ETag: {
    description: "Changes with the reply. Send it as If-None-Match to get 304 while it is the same.",
    schema: TEXT,
  },
  "Last-Modified": {
    description: "When the mirrored data of the resource last changed, where that is known.",
    schema: TEXT,
  },
  "Retry-After": { description: "Seconds to wait.", schema: { type: "string", pattern: "^\\d+$" } },
  Vary: { description: "Accept-Encoding, because replies are compressed.", schema: TEXT },
};

const refusal = (description: string, ...headers: string[]) => ({
  description,
  ...(headers.length > 0 ? { headers: headerRefs(...headers) } : {}),
  content: ofJson(schemaRef("Error")),
});

const REPLIES: Record<string, unknown> = {
  NotModified: { description: "The client has this reply already.", headers: VALIDATORS },
  Refused: refusal("A parameter has a value that cannot be used."),
  RefusedList: refusal(
    "A parameter has a value that cannot be used, a filter compares by more than equality (`date__gt`), " +
      "or leads across a field that is no reference, or the request asks for an order (`order_by`, `sort_by`).",
  ),
  NoRecord: { description: "There is no such record. The body is empty." },
  NotAllowed: {
    description: "The method is not GET, HEAD or OPTIONS.",
    headers: { Allow: { schema: TEXT } },
  },
  NotAcceptable: refusal("Accept-Encoding allows neither br, gzip nor identity."),
  TooSlow: refusal(`The request did not arrive within ${REQUEST_WITHIN_MS / 1000} s.`),
  BodyTooLong: refusal(`The request has a body of more than ${MAX_BODY_BYTES} bytes, or of unknown length.`),
  PathTooLong: refusal(`Path and query have more than ${MAX_URL_LENGTH} characters.`),
  WrongHost: refusal("The request is for a host name that the server does not answer for."),
  TooMany: refusal("This client asks too often.", "Retry-After"),
  HeadersTooLong: refusal(`The path and the headers have more than ${MAX_HEADER_BYTES} bytes.`),
  Failed: refusal("The server has a fault."),
  Unavailable: refusal(
    "No sync has read this list to its end yet, the database does not answer in time, or too many requests wait.",
    "Retry-After",
  ),
};

const hitsOf = (items: JsonSchema): JsonSchema => wholeObject({ objects: { type: "array", items } });

const TEXTS: JsonSchema = { type: "array", items: TEXT };
const HIGHLIGHTED = "A snippet of HTML. A span of class `highlighted` surrounds each found word.";
const PATH_OR_NULL: JsonSchema = { type: ["string", "null"] };

function describeSchemas(): Record<string, JsonSchema> {
  return {
    ...recordSchemas(),
    Format: { type: "string", enum: ["json"], default: "json" },
    Moment: MOMENT,
    PageMeta: wholeObject({
      limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT },
      next: { ...PATH_OR_NULL, description: "The path of the next page, null on the last one." },
      offset: FROM_0,
      previous: { ...PATH_OR_NULL, description: "The path of the page before, null when offset < limit." },
      total_count: { ...FROM_0, description: "How many records the list has, with the filters." },
    }),
    Root: wholeObject(Object.fromEntries(RESOURCES.map((resource) => [resource, schemaRef("Endpoints")]))),
    Endpoints: wholeObject({ list_endpoint: TEXT, schema: TEXT }),
    Schema: { type: "object", description: "The service does not document its shape." },
    FileHit: { allOf: [schemaRef("File"), wholeObject({ text: { ...TEXT, description: HIGHLIGHTED } })] },
    FileHits: hitsOf(schemaRef("FileHit")),
    AnchorHits: hitsOf(TEXT),
    DocHits: wholeObject({
      results: wholeObject({
        hits: {
          type: "object",
          required: ["hits", "total", "max_score"],
          properties: {
            total: FROM_0,
            max_score: { type: ["number", "null"] },
            hits: { type: "array", items: schemaRef("DocHit") },
          },
        },
      }),
    }),
    DocHit: wholeObject({
      fields: wholeObject({ link: TEXT, path: TEXTS, project: TEXTS, title: TEXTS, version: TEXTS }),
      highlight: wholeObject({
        content: { ...TEXTS, description: "Snippets of HTML; `em` surrounds each found word." },
      }),
    }),
    Error: wholeObject({ error: TEXT }),
  };
}

import { readVersion } from "../../base/version.ts";
import { DECLARATIONS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "../protocol/paging.ts";
import { filterParameters, type Parameter } from "./filter-parameters.ts";
import { type JsonSchema, nameOf, recordSchemas, schemaRef } from "./record-schemas.ts";

/**
 * The description of the interface, OpenAPI 3.1: each path with its parameters and replies. The records come
 * from `src/resources`, the paging from `src/serve/protocol`.
 */
export function describeInterface(): Record<string, unknown> {
  return {
    openapi: "3.1.0",
    info: {
      title: "docmirror",
      version: readVersion(),
      summary: "The public read-only API of a documentation hosting service, answered from a mirror.",
      description:
        "Every path answers GET, HEAD and OPTIONS. A path without its closing slash is answered as with it. A parameter that is no field has no effect.",
    },
    servers: [{ url: "/" }],
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
    const page = schemaRef(`${name}Page`);
    const list = ["format", "limit", "offset"].map(parameterRef);
    paths[`/api/v1/${resource}/`] = operation(
      `list${name}s`,
      `A page of the list of ${resource}s`,
      [...list, ...filterParameters(resource)],
      page,
    );
    paths[`/api/v1/${resource}/{key}/`] = operation(
      `find${name}`,
      `One ${resource}`,
      [keyOf(resource), parameterRef("format")],
      DECLARATIONS[resource].listedBy ? { anyOf: [schemaRef(name), page] } : schemaRef(name),
      { "404": replyRef("NoRecord") },
    );
    paths[`/api/v1/${resource}/schema/`] = operation(
      `describe${name}`,
      `The fields of a ${resource}, as the service described them`,
      [parameterRef("format")],
      schemaRef("Schema"),
    );
  }
  paths["/api/v1/file/search/"] = operation(
    "searchFiles",
    "Files whose text has all words; 20 to a page",
    [...["format", "words"].map(parameterRef), PAGE],
    hitsOf(schemaRef("FileHit")),
  );
  paths["/api/v1/file/anchor/"] = operation(
    "searchAnchors",
    "Addresses of the anchors whose text has all words; at most 50",
    ["format", "words"].map(parameterRef),
    hitsOf({ type: "string" }),
  );
  paths["/api/v2/docsearch/"] = operation(
    "searchDocs",
    "Pages of one project whose text has all words; at most 50",
    [parameterRef("format"), { ...WORDS, required: true }, DOC_PROJECT, DOC_VERSION],
    schemaRef("DocHits"),
    { "404": { description: "There is no such project.", content: ofJson(schemaRef("Error")) } },
  );
  return paths;
}

const ofJson = (schema: JsonSchema) => ({ "application/json": { schema } });
const parameterRef = (name: string) => ({ $ref: `#/components/parameters/${name}` });
const replyRef = (name: string) => ({ $ref: `#/components/responses/${name}` });
const headerRefs = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

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
        "200": {
          description: summary,
          headers: headerRefs("ETag", "Last-Modified", "Vary"),
          content: ofJson(schema),
        },
        "304": replyRef("NotModified"),
        "400": replyRef("Refused"),
        "405": replyRef("NotAllowed"),
        "406": replyRef("NotAcceptable"),
        "413": replyRef("BodyTooLong"),
        "414": replyRef("PathTooLong"),
        "429": replyRef("TooMany"),
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
  let description = "The id.";
  if (foundBy) description = `The id or the ${foundBy}. ${wins}`;
  if (listedBy) description = `The id, or the slug of a ${listedBy} for a page of its ${resource}s. ${wins}`;
  return { name: "key", in: "path", required: true, description, schema: { type: "string", minLength: 1 } };
}

const WORDS: Parameter = {
  name: "q",
  in: "query",
  description: "The words. Without any, nothing is found.",
  schema: { type: "string" },
};
const PAGE: Parameter = {
  name: "page",
  in: "query",
  description: "The number of the page, from 1.",
  schema: { type: "integer", minimum: 1, default: 1 },
};
const DOC_PROJECT: Parameter = {
  name: "project",
  in: "query",
  required: true,
  description: "The slug of the project.",
  schema: { type: "string" },
};
const DOC_VERSION: Parameter = {
  name: "version",
  in: "query",
  description: "The slug of the version.",
  schema: { type: "string", default: "latest" },
};

const PARAMETERS: Record<string, Parameter> = {
  format: {
    name: "format",
    in: "query",
    description: "The format of the reply.",
    schema: { type: "string", enum: ["json"], default: "json" },
  },
  limit: {
    name: "limit",
    in: "query",
    description: `The size of the page: at most ${MAX_LIMIT}, which 0 means too.`,
    schema: { type: "integer", minimum: 0, default: DEFAULT_LIMIT },
  },
  offset: {
    name: "offset",
    in: "query",
    description: "How many records come before the page.",
    schema: { type: "integer", minimum: 0, default: 0 },
  },
  words: WORDS,
};

const HEADERS: Record<string, unknown> = {
  ETag: {
    description: "Changes with the reply. Send it as If-None-Match to get 304 while it is the same.",
    schema: { type: "string" },
  },
  "Last-Modified": {
    description: "When the mirrored data of the resource last changed, where that is known.",
    schema: { type: "string" },
  },
  "Retry-After": { description: "Seconds to wait.", schema: { type: "string", pattern: "^\\d+$" } },
  Vary: { description: "Accept-Encoding, because replies are compressed.", schema: { type: "string" } },
};

const refusal = (description: string, ...headers: string[]) => ({
  description,
  ...(headers.length > 0 ? { headers: headerRefs(...headers) } : {}),
  content: ofJson(schemaRef("Error")),
});

const REPLIES: Record<string, unknown> = {
  NotModified: {
    description: "The client has this reply already.",
    headers: headerRefs("ETag", "Last-Modified", "Vary"),
  },
  Refused: refusal("A parameter has a value that cannot be used."),
  NoRecord: { description: "There is no such record. The body is empty." },
  NotAllowed: {
    description: "The method is not GET, HEAD or OPTIONS.",
    headers: { Allow: { schema: { type: "string" } } },
  },
  NotAcceptable: refusal("Accept-Encoding allows neither br, gzip nor identity."),
  BodyTooLong: refusal("The request has a body, and it is too long."),
  PathTooLong: refusal("Path and query are too long."),
  TooMany: refusal("This client asks too often.", "Retry-After"),
  Failed: refusal("The server has a fault."),
  Unavailable: refusal("The database does not answer, or not in time.", "Retry-After"),
};

const hitsOf = (items: JsonSchema): JsonSchema => ({
  type: "object",
  required: ["objects"],
  properties: { objects: { type: "array", items } },
});

const TEXTS: JsonSchema = { type: "array", items: { type: "string" } };
const PATH_OR_NULL: JsonSchema = { type: ["string", "null"] };
const COUNT: JsonSchema = { type: "integer", minimum: 0 };

function describeSchemas(): Record<string, JsonSchema> {
  return {
    ...recordSchemas(),
    PageMeta: {
      type: "object",
      required: ["limit", "next", "offset", "previous", "total_count"],
      properties: {
        limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT },
        next: { ...PATH_OR_NULL, description: "The path of the next page, null on the last one." },
        offset: COUNT,
        previous: { ...PATH_OR_NULL, description: "The path of the page before, null when offset < limit." },
        total_count: { ...COUNT, description: "How many records the list has, with the filters." },
      },
    },
    Root: {
      type: "object",
      required: RESOURCES,
      properties: Object.fromEntries(
        RESOURCES.map((resource) => [
          resource,
          {
            type: "object",
            required: ["list_endpoint", "schema"],
            properties: { list_endpoint: { type: "string" }, schema: { type: "string" } },
          },
        ]),
      ),
    },
    Schema: { type: "object", description: "The service does not document its shape." },
    FileHit: {
      allOf: [
        schemaRef("File"),
        {
          type: "object",
          required: ["text"],
          properties: {
            text: {
              type: "string",
              description: "A snippet of HTML. A span of class `highlighted` surrounds each found word.",
            },
          },
        },
      ],
    },
    DocHits: {
      type: "object",
      required: ["results"],
      properties: {
        results: {
          type: "object",
          required: ["hits"],
          properties: {
            hits: {
              type: "object",
              required: ["hits", "total", "max_score"],
              properties: {
                total: COUNT,
                max_score: { type: ["number", "null"] },
                hits: { type: "array", items: schemaRef("DocHit") },
              },
            },
          },
        },
      },
    },
    DocHit: {
      type: "object",
      required: ["fields", "highlight"],
      properties: {
        fields: {
          type: "object",
          required: ["link", "path", "project", "title", "version"],
          properties: {
            link: { type: "string" },
            path: TEXTS,
            project: TEXTS,
            title: TEXTS,
            version: TEXTS,
          },
        },
        highlight: {
          type: "object",
          required: ["content"],
          properties: {
            content: { ...TEXTS, description: "Snippets of HTML; `em` surrounds each found word." },
          },
        },
      },
    },
    Error: { type: "object", required: ["error"], properties: { error: { type: "string" } } },
  };
}

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fieldsOf, RESOURCES } from "../../../src/resources/resources.ts";
import { NotReadyError } from "../../../src/serve/protocol/catalog.ts";
import { type SimulatedApp, serveWorld } from "./simulated-app.ts";

type Ref = { $ref?: string };
type Parameter = Ref & { name: string; in: string; required?: boolean; schema: { type?: string } };
type Reply = Ref & { headers?: object; content?: Record<string, { schema: object }> };
type Operation = { operationId: string; parameters: Parameter[]; responses: Record<string, Reply> };
interface Description {
  paths: Record<string, { get: Operation }>;
  components: Record<"schemas" | "parameters" | "responses" | "headers", Record<string, object>>;
}

let app: SimulatedApp;
let description: Description;

beforeAll(async () => {
  app = await serveWorld();
  description = (await (await app.get("/openapi.json")).json()) as Description;
});
afterAll(() => app[Symbol.asyncDispose]());

/** What a reference within the description stands for. */
function resolve<T extends Ref>(part: T): T {
  if (part.$ref === undefined) return part;
  const [, , kind, name] = part.$ref.split("/") as [string, string, keyof Description["components"], string];
  return description.components[kind][name] as T;
}

function createCompile() {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: "description", ...description });
  // References are paths within the description.
  return (schema: object) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"description#/')));
}

function createCheck() {
  const compile = createCompile();
  return async (path: string, reply: Response): Promise<unknown> => {
    const told = resolve(description.paths[path]?.get.responses[reply.status] ?? { $ref: "" });
    if (told === undefined) return `${reply.status} is not described`;
    for (const name of Object.keys(told.headers ?? {})) {
      if (name !== "Last-Modified" && !reply.headers.has(name)) return `${reply.status} has no ${name}`;
    }
    const text = await reply.text();
    if (told.content === undefined) return text === "" ? null : "the body is not described";
    const type = reply.headers.get("content-type") ?? "";
    const schema = told.content[type]?.schema;
    if (schema === undefined) return `${type} is not described`;
    const isValid = compile(schema);
    return isValid(JSON.parse(text)) ? null : isValid.errors;
  };
}

async function ask(url: string, path: string, headers: Record<string, string>): Promise<Response> {
  const { hostname, port } = new URL(url);
  const asked = request({ hostname, port, path, headers: { ...headers, connection: "close" } }).end();
  const [reply] = (await once(asked, "response")) as [IncomingMessage];
  const body = await text(reply);
  return new Response(body === "" ? null : body, {
    status: reply.statusCode ?? 0,
    headers: reply.headers as Record<string, string>,
  });
}

type Fields = Record<string, unknown>;

async function firstRecord(resource: string, fits = (_record: Fields): boolean => true): Promise<Fields> {
  const reply = await app.get(`/api/v1/${resource}/`);
  return ((await reply.json()) as { objects: Fields[] }).objects.find(fits) ?? {};
}

describe("the description of the interface", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...structuredClone(description) })).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  it("is served like the interface: with a tag, compressed, and never written", async () => {
    const reply = await app.get("/openapi.json", { "accept-encoding": "br" });
    const { etag = "", ...headers } = Object.fromEntries(reply.headers);
    expect(headers).toMatchObject({ "content-type": "application/json", "content-encoding": "br" });
    expect((await app.get("/openapi.json", { "if-none-match": etag })).status).toBe(304);
    const options = await app.get("/openapi.json", {}, { method: "OPTIONS" });
    expect(options.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await app.get("/openapi.json", {}, { method: "PUT" })).status).toBe(405);
  });

  it("has the lists, details, schemas and searches of all resources, and nothing else", () => {
    const below = RESOURCES.flatMap((name) => [`${name}/`, `${name}/{key}/`, `${name}/schema/`]);
    const paths = ["", ...below, "file/search/", "file/anchor/"].map((path) => `/api/v1/${path}`);
    expect(Object.keys(description.paths).sort()).toEqual([...paths, "/api/v2/docsearch/"].sort());
  });

  it("has every field of each record, in its schema and as a filter", () => {
    for (const resource of RESOURCES) {
      const fields = fieldsOf(resource).map(([name]) => name);
      const name = resource.charAt(0).toUpperCase() + resource.slice(1);
      const { properties } = description.components.schemas[name] as { properties: object };
      expect(Object.keys(properties)).toEqual(fields);
      const { parameters } = description.paths[`/api/v1/${resource}/`]?.get ?? { parameters: [] };
      const names = parameters.map((parameter) => resolve(parameter).name);
      expect(names).toEqual(expect.arrayContaining(["limit", "offset", "format", ...fields]));
      expect(new Set(names).size).toBe(names.length);
    }
    const builds = description.paths["/api/v1/build/"]?.get.parameters.map(({ name }) => name);
    expect(builds).toEqual(expect.arrayContaining(["project__slug", "version__slug"]));
  });

  it("gives a name of its own to each operation", () => {
    const names = Object.values(description.paths).map(({ get }) => get.operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it("describes what each path answers: records, refusals and what is not there", {
    tags: ["long"],
  }, async () => {
    const check = createCheck();
    const build = await firstRecord("build");
    const project = await firstRecord("project", ({ slug }) => !/^\d+$/.test(String(slug)));
    const wrong: unknown[] = [];
    const crawl = async (template: string, path: string, status: number) => {
      const reply = await app.get(path);
      if (reply.status !== status) wrong.push([path, reply.status]);
      const difference = await check(template, reply);
      if (difference !== null) wrong.push([path, difference]);
    };
    for (const [template, { get }] of Object.entries(description.paths)) {
      const [, , , resource = ""] = template.split("/");
      const required = get.parameters.map(resolve).filter((parameter) => parameter.required);
      const query = required.flatMap(({ in: place, name }) =>
        place === "query" ? [`${name}=${name === "project" ? project.slug : "build"}`] : [],
      );
      const search = query.length > 0 ? `?${query.join("&")}` : "";
      if (!template.includes("{key}")) {
        await crawl(template, template + search, 200);
        continue;
      }
      const { id } = await firstRecord(resource);
      await crawl(template, template.replace("{key}", String(id)), 200);
      await crawl(template, template.replace("{key}", "999999999"), 404);
    }
    for (const [template, path, status] of [
      ["v1/build/{key}/", `v1/build/${project.slug}/`, 200],
      ["v1/version/{key}/", `v1/version/${project.slug}/`, 200],
      ["v1/project/{key}/", `v1/project/${project.slug}/`, 200],
      ["v1/build/", `v1/build/?project__slug=${project.slug}&state=${build.state}&limit=0&offset=1`, 200],
      ["v1/build/", "v1/build/?limit=x", 400],
      ["v1/build/", "v1/build/?state__gt=x", 400],
      ["v1/build/", "v1/build/?order_by=date", 400],
      ["v1/build/{key}/", `v1/build/${project.slug}/?sort_by=-date`, 400],
      ["v1/build/", `v1/build/?slug=${"x".repeat(20_000)}`, 414],
      ["v1/file/search/", "v1/file/search/?q=build", 200],
      ["v1/file/anchor/", "v1/file/anchor/?q=install", 200],
      ["v2/docsearch/", "v2/docsearch/", 400],
      ["v2/docsearch/", "v2/docsearch/?project=none&q=x", 404],
    ] as const)
      await crawl(`/api/${template}`, `/api/${path}`, status);
    expect(wrong).toEqual([]);
  });

  it("names filters that all work", { tags: ["long"] }, async () => {
    const wrong: string[] = [];
    for (const resource of RESOURCES) {
      const path = `/api/v1/${resource}/`;
      const totalOf = async (query: string): Promise<number | string> => {
        const reply = await app.get(`${path}?limit=1&${query}`);
        if (reply.status !== 200) return `${reply.status} ${await reply.text()}`;
        return ((await reply.json()) as { meta: { total_count: number } }).meta.total_count;
      };
      const all = Number(await totalOf(""));
      for (const { $ref, name, schema } of description.paths[path]?.get.parameters ?? []) {
        if ($ref !== undefined) continue;
        const absent =
          schema.type === "boolean" ? ["true", "false"] : [/date|login/.test(name) ? "1999-01-01" : "0"];
        const totals = await Promise.all(absent.map((value) => totalOf(`${name}=${value}`)));
        // A boolean divides the records that have it. Any other filter leaves none: no record has that value.
        const sum = totals.reduce<number>((left, total) => left + Number(total), 0);
        const isRight = schema.type === "boolean" ? sum > all / 2 && sum <= all : sum === 0;
        if (!isRight) wrong.push(`${resource} ${name}: ${totals} of ${all}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("finds a reply that differs from it", async () => {
    const check = createCheck();
    const difference = (path: string, body: unknown) =>
      check(path, Response.json(body, { headers: { etag: '"a"', vary: "Accept-Encoding" } }));
    expect(await difference("/api/v1/user/{key}/", { id: "5", username: 7 })).not.toBeNull();
    expect(await difference("/api/v1/user/{key}/", { id: 5, username: null })).not.toBeNull();
    expect(await difference("/api/v1/user/", { objects: [] })).not.toBeNull();
    expect(await difference("/api/v1/user/{key}/", { id: "5", username: null, later: 1 })).toBeNull();
  });

  it("describes each refusal as it is sent, and no other", async () => {
    const find = () => Promise.reject(new Error("a bug"));
    await using refusing = await serveWorld({ find }, { ratePerSecond: 0.001 });
    const path = "/api/v1/build/{key}/";
    const id = String((await firstRecord("build")).id);
    const at = (name: string, headers = {}) => ask(app.url, path.replace("{key}", name), headers);
    const replies = [
      await at(id),
      await at(id, { "if-none-match": "*" }),
      await at(`${id}/?format=xml`),
      await at("a\\b"),
      await at("999999999"),
      await app.get(path, {}, { method: "POST" }),
      await at(id, { "accept-encoding": "identity;q=0" }),
      await at(id, { "content-length": "1025" }),
      await at("x".repeat(20_000)),
      await at(id, { host: "evil.example" }),
      await at(id, { "x-long": "x".repeat(140_000) }),
      await refusing.get("/api/v1/build/5/"),
      await refusing.get("/api/v1/build/5/"),
    ];
    await using waiting = await serveWorld({ find: () => Promise.reject(new NotReadyError("Not yet")) });
    replies.push(await waiting.get("/api/v1/build/5/"));

    const check = createCheck();
    const wrong: unknown[] = [];
    for (const reply of replies) {
      const difference = await check(path, reply);
      if (difference !== null) wrong.push([reply.status, difference]);
    }
    expect(wrong).toEqual([]);
    // A late request needs half a minute: see `request-bounds.test.ts`.
    const sent = new Set(["408", ...replies.map(({ status }) => String(status))]);
    expect([...sent].sort()).toEqual(Object.keys(description.paths[path]?.get.responses ?? {}));
    const everywhere = expect.arrayContaining([...sent].filter((status) => status !== "404"));
    for (const { get } of Object.values(description.paths))
      expect(Object.keys(get.responses)).toEqual(everywhere);
  });

  it("allows the values of a parameter that are not refused, and no other", { tags: ["long"] }, async () => {
    const compile = createCompile();
    const { slug } = await firstRecord("project");
    const wrong: unknown[] = [];
    const seen = new Set<string>();
    for (const [path, { get }] of Object.entries(description.paths)) {
      const parameters = get.parameters.map(resolve).filter((parameter) => parameter.in === "query");
      for (const { name, schema } of parameters) {
        // One of each kind: all lists are one kind of path, and so are all details and all schemas.
        const kind = path.replace(/v1\/\w+\/(?=$|\{|schema)/, "") + JSON.stringify(schema);
        if (seen.has(kind)) continue;
        seen.add(kind);
        const isValid = compile(schema);
        const others = path === "/api/v2/docsearch/" ? { q: "build", project: String(slug) } : { limit: "1" };
        const refuses = VALUES.map(async (value) => {
          const query = new URLSearchParams({ ...others, [name]: value });
          const { status } = await app.get(`${path.replace("{key}", "5")}?${query}`);
          if ((status === 400) === isValid(readAs(schema.type, value)))
            wrong.push([path, name, value, status]);
        });
        await Promise.all(refuses);
      }
    }
    expect(wrong).toEqual([]);
  });
});

const VALUES = [
  ...["", "7", "-1", "x", "a/b", "true", "json"],
  ...["/api/v1/project/7/", "http://localhost/api/v1/user/7", "/api/v1/version/7/"],
  ...["2026-03-11", "2026-03-11T22:08:04.614183", "2026-03-11 22:08:04", "2026-03-11T22:08:04Z"],
  ...["2024-02-29", "2026-02-29", "2026-03-11T24:00:00", "0000-01-01"],
];

/** The value that the text of a query stands for. */
function readAs(type: string | undefined, value: string): unknown {
  if (type === "integer" && /^-?\d+$/.test(value)) return Number(value);
  if (type === "boolean" && value === "true") return true;
  return value;
}

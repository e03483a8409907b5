import { describe, expect, it } from "vitest";
import * as errors from "../../src/base/errors.ts";
import type { ServiceClient } from "../../src/client/service-client.ts";
import { serviceClientOver } from "../../src/client/service-client-over.ts";
import { asSent } from "../support/canonical-json.ts";
import { createTestClient } from "../support/client.ts";
import { type Script, startScriptedServer } from "../support/scripted-server.ts";
import { wireBuild, wireFile, wireProject, wireUser, wireVersion } from "../support/wire-records.ts";

const ROOT = { project: { list_endpoint: "/api/v1/project/", schema: "/api/v1/project/schema/" } };

async function call<T>(
  script: Script,
  ask: (service: ServiceClient) => Promise<T>,
  options: { allowOddFields?: boolean; timeoutMs?: number } = {},
) {
  await using server = await startScriptedServer(script);
  await using client = createTestClient(server.url, { retries: 0, ...options });
  const outcome = await ask(serviceClientOver(client, options)).then(
    (answer) => ({ answer, error: null }),
    (error: Error) => ({ answer: null, error }),
  );
  return { ...outcome, paths: server.requests.map(({ path }) => path) };
}

const META = { limit: 20, offset: 0, next: null, previous: null, total_count: 1 };
const page = (...objects: unknown[]) => [{ body: { meta: META, objects } }];
const fetchBuild = (service: ServiceClient) => service.fetchRecord("build", "7");
const search = (service: ServiceClient) => service.searchDocs({ project: "pip", q: "x" });
const hits = (...found: unknown[]) => [{ body: { results: { hits: { hits: found } } } }];

describe("a record", () => {
  it("keeps every field as it came, and those that are not documented in extra", async () => {
    const documented = wireBuild("7", { setup: null, date: "2012-08-30T13:36:57" });
    const extra = { commit: "abc", deep: { a: [1, null] }, extra: "own", toString: 1 };
    const body = `{"__proto__":{"a":1},${JSON.stringify({ ...documented, ...extra }).slice(1)}`;
    const { answer } = await call([{ body }], fetchBuild);
    expect(answer).toEqual({ ...documented, extra: expect.objectContaining(extra) });
    expect(Object.entries(answer?.extra ?? {})).toContainEqual(["__proto__", { a: 1 }]);
    const file = wireFile("7", { ...wireProject("9"), more: 1 });
    const found = await call([{ body: file }], (service) => service.fetchRecord("file", "7"));
    expect(found.answer).toMatchObject({ extra: {}, project: { id: "9", extra: { more: 1 } } });
  });

  it("has its digits as id where the service sends integers, in embedded records too", async () => {
    const file = { ...wireFile("7", { ...wireProject("9"), id: 9 }), id: 7 };
    const { answer } = await call(page(file), (service) => service.fetchPage("file"));
    expect(answer?.objects[0]).toMatchObject({ id: "7", project: { id: "9" } });
  });

  it.each([
    ["no id", { state: "finished" }],
    ["a rounded id", { id: 2 ** 60 }],
    ["an object as id", { id: {} }],
    ["an empty id", { id: "" }],
  ])("with %s is refused", async (_, record) => {
    const detail = await call([{ body: record }], fetchBuild);
    expect(detail.error).toBeInstanceOf(errors.UnexpectedShapeError);
    const list = await call(page(wireBuild("1"), record), (service) => service.fetchPage("build"));
    expect(list.error?.message).toMatch(/GET http.*\/build\/\?format=json .* a build has no usable id/);
  });

  it.each([
    ["build", wireBuild("7", { state: 3 }), "build 7: state should be a string, and is of type number"],
    ["build", wireBuild("7", { success: "yes" }), "build 7: success should be a boolean"],
    ["project", wireProject("7", { users: ["/a/", 1] }), "project 7: users should be an array of paths"],
    ["project", wireProject("7", { users: "/a/" }), "project 7: users should be an array of paths"],
    ["version", wireVersion("7", "/api/v1/project/1/"), "a project in version 7 has no usable id"],
    [
      "file",
      wireFile("7", wireProject("9", { slug: [] })),
      "project 9: slug should be a string, and is an a",
    ],
  ] as const)("with another type in a field of a %s is refused, or has it in extra where odd fields are allowed", async (resource, record, message) => {
    const ask = (service: ServiceClient) => service.fetchRecord(resource, "7");
    expect((await call([{ body: record }], ask)).error?.message).toContain(message);
    const { answer } = await call([{ body: record }], ask, { allowOddFields: true });
    expect(asSent(answer)).toEqual(record);
    const odd = [answer, (answer as { project?: unknown }).project].map((one) =>
      Object.keys((one as { extra?: object } | undefined)?.extra ?? {}),
    );
    expect(odd.flat()).toEqual([expect.stringMatching(/^(state|success|users|project|slug)$/)]);
  });

  it("with a number that JSON does not have is refused, unless odd fields are allowed", async () => {
    const body = JSON.stringify(wireBuild("7", { shoes: "?" })).replace('"?"', "NaN");
    const { error } = await call([{ body }], fetchBuild);
    expect(error?.message).toContain("build 7 holds NaN, a number that JSON");
    const { answer } = await call([{ body }], fetchBuild, { allowOddFields: true });
    expect(answer).toMatchObject({ id: "7", extra: { shoes: Number.NaN } });
  });

  it("that the service lacks is a NotFoundError, once the root listing answers", async () => {
    const script: Script = (_, { pathname }) => (pathname === "/api/v1/" ? { body: ROOT } : { status: 404 });
    const { error, paths } = await call(script, fetchBuild);
    expect(error).toBeInstanceOf(errors.NotFoundError);
    expect(error).toHaveProperty("hint", expect.stringContaining("digits"));
    expect(error?.message).toBe("The service has no build 7");
    expect(paths).toEqual(["/api/v1/build/7/?format=json", "/api/v1/?format=json"]);
  });

  it("is not missing where the base URL leads to something else", async () => {
    const { error } = await call([{ status: 404, body: "<h1>no</h1>" }], fetchBuild);
    expect(error).toBeInstanceOf(errors.UnexpectedShapeError);
    expect(error).toHaveProperty("hint", "the base URL is the part before /api/v1/");
  });

  it("is not the one that was asked for by its id, and is refused", async () => {
    const { error } = await call([{ body: wireBuild("8") }], fetchBuild);
    expect(error?.message).toContain("answered, but with build 8");
  });

  it("was a version by a project's slug: the error says how to list them", async () => {
    const { error } = await call(page(), (service) => service.fetchRecord("version", "pip"));
    expect(error?.message).toContain("with a list of versions instead of one");
    expect(error).toHaveProperty("hint", "a version has an id; versionsOf lists the versions of a project");
  });

  it.each(["", ".", "..", "a\u0000b", "x".repeat(256)])("by the key %j is not asked for", async (key) => {
    const { error, paths } = await call([], async (service) => service.fetchRecord("project", key));
    expect(error).toBeInstanceOf(errors.ConfigError);
    expect(paths).toEqual([]);
  });

  it("of a name that is no resource is not asked for, and the hint names the resources", async () => {
    const ask = (service: ServiceClient) => service.fetchRecord("builds" as "build", "7");
    const { error, paths } = await call([], ask);
    expect(error).toMatchObject({
      message: "'builds' is no resource of the service",
      hint: expect.stringMatching(/project.*build/),
    });
    expect(paths).toEqual([]);
  });

  it("by a slug with odd characters is asked for below its list", async () => {
    const key = "a/../b?c#d%2e";
    const ask = (service: ServiceClient) => service.fetchRecord("project", key);
    const { paths } = await call([{ body: wireProject("1") }], ask);
    expect(paths).toEqual(["/api/v1/project/a%2F..%2Fb%3Fc%23d%252e/?format=json"]);
  });
});

describe("a page", () => {
  it("asks for its place and its filters", async () => {
    const { paths } = await call(page(), (service) =>
      service.fetchPage("version", { filters: { slug: "latest", active: true }, limit: 0, offset: 40 }),
    );
    expect(paths).toEqual(["/api/v1/version/?slug=latest&active=true&format=json&limit=0&offset=40"]);
  });

  it("has null for each count that is none, and keeps the rest of meta", async () => {
    const meta = { limit: "20", offset: -1, next: null, previous: 3, total_count: 1.5, more: "x" };
    const { answer } = await call([{ body: { meta, objects: [] } }], (service) => service.fetchPage("user"));
    const none = { limit: null, offset: null, next: null, previous: null, total_count: null };
    expect(answer?.meta).toEqual({ ...none, extra: { more: "x" } });
  });

  it.each([
    [{ limit: -1 }, "limit should be a whole number from 0"],
    [{ offset: 1.5 }, "offset should be a whole number"],
    [{ otherFilters: { limit: "3", format: "xml" } }, "limit, format cannot be a filter"],
  ])("with %j is not asked for", async (query, message) => {
    const { error, paths } = await call([], (service) => service.fetchPage("user", query));
    expect(error).toBeInstanceOf(errors.ConfigError);
    expect(error?.message).toContain(message);
    expect(paths).toEqual([]);
  });
});

it("the builds of a project are those of the list that its slug filters", async () => {
  const { answer, paths } = await call(page(wireBuild("7")), (service) =>
    service.buildsOf("pip", { pageSize: 5 }).toArray({ max: 3 }),
  );
  expect(answer).toMatchObject([{ id: "7" }]);
  expect(paths).toEqual(["/api/v1/build/?project__slug=pip&format=json&limit=5"]);
});

describe("the root listing", () => {
  it("keeps resources that are not documented, and leaves out what is no endpoint", async () => {
    const more = { page: { list_endpoint: "/p/" }, odd: 3 };
    const { answer } = await call([{ body: { ...ROOT, ...more } }], (service) => service.fetchRoot());
    expect(answer).toEqual({ ...ROOT, extra: { page: { list_endpoint: "/p/", schema: null } } });
  });
});

describe("a schema", () => {
  const FILTERED = { fields: { id: { type: "string", more: 1 } }, filtering: { slug: 1 } };
  it.each([{}, { fields: {} }, FILTERED])("that is %j is kept as it came", async (body) => {
    const { answer, paths } = await call([{ body }], (service) => service.fetchSchema("build"));
    expect(asSent(answer)).toEqual(body);
    const { fields: _, ...extra } = body as { fields?: unknown };
    expect(answer?.extra).toEqual(extra);
    expect(paths).toEqual(["/api/v1/build/schema/?format=json"]);
  });
});

describe("a search", () => {
  it("asks for its words, and for a page of files", async () => {
    const script = [{ body: { objects: [] } }];
    const files = await call(script, (service) => service.searchFiles("a&b ü", { page: 2 }));
    expect(files.answer).toEqual([]);
    expect(files.paths).toEqual(["/api/v1/file/search/?q=a%26b+%C3%BC&page=2&format=json"]);
    const anchors = await call(script, (service) => service.searchAnchors("a b"));
    expect(anchors).toMatchObject({ answer: [], paths: ["/api/v1/file/anchor/?q=a+b&format=json"] });
    const docs = await call(hits(), search);
    expect(docs.paths).toEqual(["/api/v2/docsearch/?project=pip&version=latest&q=x&format=json"]);
  });

  it("for documents keeps what came, and makes single and absent texts arrays", async () => {
    const hit = { fields: { link: ["http://x/"], path: "a", title: ["t"], more: 1 }, score: 0.5 };
    const { answer } = await call(hits(hit), search);
    const texts = { link: "http://x/", path: ["a"], project: [], title: ["t"], version: [] };
    const fields = { ...texts, extra: { more: 1 } };
    const found = { fields, highlight: { content: [], extra: {} }, extra: { score: 0.5 } };
    expect(answer).toEqual({ total: null, max_score: null, hits: [found], extra: {} });
  });
});

describe("a reply of another shape is refused", () => {
  const docHits = (...found: unknown[]) => ({ results: { hits: { hits: found } } });
  const asks: Record<string, [ask: (service: ServiceClient) => Promise<unknown>, bodies: unknown[]]> = {
    "a record": [fetchBuild, [null, [], "text", 7, true, [wireBuild("7")]]],
    "a page": [
      (service) => service.fetchPage("user"),
      [{}, { meta: {}, objects: [] }, { meta: META, objects: {} }, { meta: META }, wireUser("1")],
    ],
    "the root": [
      (service) => service.fetchRoot(),
      [{}, [], null, { project: {} }, { page: { list_endpoint: "/p/" } }],
    ],
    "a schema": [
      (service) => service.fetchSchema("build"),
      [null, [], "x", { fields: [] }, { fields: null }, { fields: { id: 3 } }],
    ],
    files: [
      (service) => service.searchFiles("x"),
      [null, {}, { objects: {} }, { objects: [{ id: "1", text: 3 }] }, { objects: ["x"] }],
    ],
    anchors: [(service) => service.searchAnchors("x"), [null, { objects: [3] }, { objects: [{}] }]],
    documents: [
      search,
      [
        ...[{}, { results: { hits: [] } }, docHits({}), docHits({ fields: { title: [3] } })],
        ...[docHits({ fields: {}, highlight: "x" }), docHits({ fields: {}, highlight: { content: {} } })],
      ],
    ],
  };
  const cases = Object.entries(asks).flatMap(([what, [ask, bodies]]) =>
    bodies.map((body) => [what, JSON.stringify(body), ask] as const),
  );

  it.each(cases)("for %s, as %s", async (_what, body, ask) => {
    expect((await call([{ body }], ask)).error).toBeInstanceOf(errors.UnexpectedShapeError);
  });
});

describe("a call", () => {
  it("counts in stats", async () => {
    await using server = await startScriptedServer([{ body: wireBuild("7") }]);
    await using service = serviceClientOver(createTestClient(server.url));
    await fetchBuild(service);
    expect(service.stats()).toEqual({ requests: 1, bytes: JSON.stringify(wireBuild("7")).length });
  });

  it("shows no password in the base URL", async () => {
    await using service = serviceClientOver(createTestClient("http://me:secret@docs.invalid/old/"));
    expect(service.baseUrl).toBe("http://docs.invalid/old");
  });
});

import { describe, expect, it, test } from "vitest";
import type { Catalog } from "../../../src/serve/protocol/catalog.ts";
import { createProtocol, MIRROR } from "../../../src/serve/protocol/protocol.ts";
import { renderJson, renderPage } from "../../../src/serve/protocol/replies.ts";
import { recordedExchanges } from "../../support/recorded-exchanges.ts";
import { createRecordedCatalog } from "./recorded-catalog.ts";

const exchanges = recordedExchanges();
const catalog = createRecordedCatalog(exchanges);
const app = createProtocol({ catalog });

const ask = async (path: string, init?: RequestInit) => app.request(path, init);

describe("the protocol against the recorded service", () => {
  test.each(exchanges)("$method $path is answered as recorded", async (exchange) => {
    const reply = await ask(exchange.path, { method: exchange.method });
    expect(reply.status).toBe(exchange.status);
    const body = await reply.text();
    const isJson = exchange.headers["content-type"] === "application/json";
    if (isJson) expect(JSON.parse(body)).toEqual(JSON.parse(exchange.body));
    else expect(body).toBe(exchange.body);
    if (isJson) expect(reply.headers.get("content-type")).toBe("application/json");
    expect(reply.headers.get("location")).toBe(exchange.headers.location ?? null);
    if (exchange.status === 405) expect(reply.headers.get("allow")).toBe(exchange.headers.allow);
  });

  test("a page is the recorded page, byte by byte, but for the blanks between its tokens", async () => {
    const path = "/api/v1/build/?format=json&limit=100";
    const recorded = exchanges.find((exchange) => exchange.path === path)?.body ?? "";
    const body = await (await ask(path)).text();
    // Strings are matched whole so that blanks in them stay.
    const tight = recorded.replace(/"(?:[^"\\]|\\.)*"|([,:]) /g, (token, mark) => mark ?? token);
    expect(body === tight).toBe(true);
  });
});

describe("what the recording does not hold", () => {
  test.each([
    ["/api/v1/build/?limit=-1", "Invalid limit '-1' provided. Please provide a positive integer &gt;= 0."],
    ["/api/v1/build/?limit=", "Invalid limit '' provided. Please provide a positive integer."],
    ["/api/v1/build/?offset=x", "Invalid offset 'x' provided. Please provide an integer."],
    ["/api/v1/build/?limit=<b>", "Invalid limit '&lt;b&gt;' provided. Please provide a positive integer."],
    ["/api/v1/file/?name=x", "The 'name' field does not allow filtering."],
    ["/api/v1/build/?id=5", "The 'id' field does not allow filtering."],
    ["/api/v1/build/?version=5", "The 'version' field does not allow filtering."],
    ["/api/v1/build/?project__name=x", "The 'name' field does not allow filtering."],
    ["/api/v1/build/?state__name=x", "The 'state' field does not support relations."],
    ["/api/v1/build/?state__contains=x", "'contains' is not an allowed filter on the 'state' field."],
    ["/api/v1/version/?active=maybe", "'maybe' value must be either True or False."],
    ["/api/v1/build/?project=x", "Invalid resource lookup data provided (mismatched type)."],
  ])("%s is refused", async (path, error) => {
    const reply = await ask(path);
    expect([reply.status, await reply.json()]).toEqual([400, { error }]);
  });

  test.each([
    ["limit=12&offset=12", null, "limit=12&offset=0"],
    ["limit=11&offset=12", "limit=11&offset=23", "limit=11&offset=1"],
    ["limit=8&offset=4", "limit=8&offset=12", null],
    ["limit=24", null, null],
    ["limit=23", "limit=23&offset=23", null],
  ])("of 24 users, %s has the right neighbours", async (query, next, previous) => {
    const address = (page: string | null): string | null => page && `/api/v1/user/?${page}`;
    const meta = { next: address(next), previous: address(previous), total_count: 24 };
    expect(await (await ask(`/api/v1/user/?${query}`)).json()).toMatchObject({ meta });
  });

  test("the redirect to the closing slash keeps the query", async () => {
    const { status, headers } = await ask("/api/v1/build?limit=5&format=json");
    expect([status, headers.get("location")]).toEqual([301, "/api/v1/build/?limit=5&format=json"]);
  });

  test("the list of a project's versions loses the project in its next", async () => {
    const reply = await ask("/api/v1/version/brook-lib/?limit=5");
    const meta = expect.objectContaining({ next: "/api/v1/version/?limit=5&offset=5" });
    expect(await reply.json()).toEqual({ meta, objects: expect.objectContaining({ length: 5 }) });
  });

  test.each([
    ...["/", "/api/", "/api/v1/nosuch/5/", "/api/v1/build/5/6/", "/api/v1/nosuch", "/api/v3/"],
  ])("%s is an unknown path", async (path) => {
    const reply = await ask(path);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([404, "text/html"]);
  });

  test("a slug of digits is taken for an id", async () => {
    expect((await ask("/api/v1/project/424242/")).status).toBe(404);
  });

  test("behind a base path every address carries it, and nothing answers without it", async () => {
    const prefixed = createProtocol({ catalog, basePath: "/docs" });
    const build = { list_endpoint: "/docs/api/v1/build/", schema: "/docs/api/v1/build/schema/" };
    expect(await (await prefixed.request("/docs/api/v1/")).json()).toMatchObject({ build });
    const next = "/docs/api/v1/user/?limit=20&offset=20";
    expect(await (await prefixed.request("/docs/api/v1/user/")).json()).toMatchObject({ meta: { next } });
    expect((await prefixed.request("/docs/api/v1/user")).headers.get("location")).toBe("/docs/api/v1/user/");
    expect((await prefixed.request("/api/v1/user/")).status).toBe(404);
  });

  test("a catalog that fails is answered with 500 and JSON", async () => {
    const failing: Catalog = { ...catalog, list: () => Promise.reject(new Error("no")) };
    const reply = await createProtocol({ catalog: failing }).request("/api/v1/user/");
    expect(reply.status).toBe(500);
    expect(await reply.json()).toHaveProperty("error_message");
  });

  test("text outside ASCII leaves raw", async () => {
    expect(await (await ask("/api/v1/project/?limit=100")).text()).toMatch(/[\u0080-\uffff]/);
  });
});

describe("ready replies", () => {
  function counting(revision: () => string | undefined) {
    let asked = 0;
    const list: Catalog["list"] = async (resource, query) => {
      asked++;
      return { ...(await catalog.list(resource, query)), revision: revision() };
    };
    return { catalog: { ...catalog, list, revision: async () => revision() }, asked: () => asked };
  }

  test("the catalog is asked once for a page while the revision stays", async () => {
    let revision = "a";
    const { catalog, asked } = counting(() => revision);
    const cached = createProtocol({ catalog, cacheBytes: 1_000_000 });
    const first = await (await cached.request("/api/v1/user/")).text();
    expect(await (await cached.request("/api/v1/user/")).text()).toBe(first);
    expect(asked()).toBe(1);
    await cached.request("/api/v1/user/?limit=5");
    expect(asked()).toBe(2);
    revision = "b";
    expect(await (await cached.request("/api/v1/user/")).text()).toBe(first);
    expect(asked()).toBe(3);
  });

  let moves = 0;
  /** The reply is short, and its address is long. */
  const long = `/api/v1/user/?username=nobody&other=${"x".repeat(6000)}`;
  test.each<[string, () => string | undefined, number, string?]>([
    ["without a revision", () => undefined, 1_000_000],
    ["beyond the bytes allowed", () => "a", 100],
    ["whose address is beyond them, so that long ones do not fill the memory", () => "a", 5000, long],
    ["that was rendered while the content moved", () => String(moves++), 1_000_000],
  ])("none is kept %s", async (_, revision, cacheBytes, path = "/api/v1/user/") => {
    const { catalog, asked } = counting(revision);
    const cached = createProtocol({ catalog, cacheBytes });
    const body = await (await cached.request(path)).text();
    if (path === long) expect(body.length).toBeLessThan(200);
    await cached.request(path);
    expect(asked()).toBe(2);
  });
});

const mirrored = createProtocol({ catalog, manners: MIRROR });
const askMirror = async (path: string, init?: RequestInit) => mirrored.request(path, init);
const json = async (path: string) =>
  (await (await askMirror(path)).json()) as {
    meta: { total_count: number; next: string };
    objects: unknown[];
  };

const MISMATCHED = "Invalid resource lookup data provided (mismatched type).";
const BY_DATE = "This list is ordered by 'date', the last first.";
const NOT_BY_SLUG = "The 'slug' field does not allow ordering.";

describe("with the mirror's manners", () => {
  it.each(
    exchanges.filter(
      ({ method, status, path }) => method === "GET" && status !== 301 && !path.includes("date="),
    ),
  )("$path is answered as recorded", async ({ path, status, headers, body }) => {
    const reply = await askMirror(path);
    expect(reply.status).toBe(status);
    const came = await reply.text();
    if (headers["content-type"] === "application/json") expect(JSON.parse(came)).toEqual(JSON.parse(body));
    else expect(came).toBe(body);
  });

  it.each([
    "/api/v1",
    "/api/v1/build",
    "/api/v1/build/91210",
    "/api/v1/build/schema",
    "/api/v1/project/brook-lib",
    "/api/v1/version/brook-lib",
    "/api/v1/file/search?q=harbor",
    "/api/v2/docsearch?project=harbor-theme&version=latest&q=harbor",
  ])("%s is answered as with the closing slash", async (path) => {
    const reply = await askMirror(path);
    expect(reply.status).toBe(200);
    const [before, query = ""] = path.split("?");
    expect(await reply.text()).toBe(await (await askMirror(`${before}/?${query}`)).text());
  });

  it("HEAD answers as GET does, without a body", async () => {
    for (const path of ["/api/v1/build/", "/api/v1/build/91210/", "/api/v1/nosuch/"]) {
      const [head, get] = [await askMirror(path, { method: "HEAD" }), await askMirror(path)];
      expect(head.status).toBe(get.status);
      expect(await head.text()).toBe("");
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    }
  });

  it("OPTIONS names the methods, and other methods are refused with them", async () => {
    const options = await askMirror("/api/v1/build/", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const reply = await askMirror("/api/v1/build/", { method });
      expect([reply.status, reply.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
  });

  it.each([
    ["?format=xml", "Invalid format 'xml' provided. Only 'json' is available."],
    ["build/?format=", "Invalid format '' provided. Only 'json' is available."],
    ["build/91210/?format=json&format=jsonp", "Invalid format 'jsonp' provided. Only 'json' is available."],
    ["build/?order_by=-date", `The 'date' field does not allow ordering. ${BY_DATE}`],
    ["build/?limit=x&order_by=", `No matching '' field for ordering on. ${BY_DATE}`],
    ["user/?limit=2&order_by=pk", "No matching 'pk' field for ordering on. This list is ordered by 'id'."],
    ["project/?order_by=slug__x", `${NOT_BY_SLUG} This list is ordered by 'slug'.`],
    ["project/?sort_by=-slug", `${NOT_BY_SLUG} This list is ordered by 'slug'.`],
    [
      "version/pip/?order_by=slug&sort_by=id",
      `${NOT_BY_SLUG} This list is ordered by 'verbose_name', the last first.`,
    ],
    ["build/?id__gt=5", "'gt' is not an allowed filter on the 'id' field."],
    ["build/?state__in=a,b", "'in' is not an allowed filter on the 'state' field."],
    ["build/?project__slug__startswith=a", "'startswith' is not an allowed filter on the 'project' field."],
    ["build/?project__nosuch=a", "'project__nosuch' is not an allowed filter on the 'build' resource."],
    [
      "build/?project__constructor=a",
      "'project__constructor' is not an allowed filter on the 'build' resource.",
    ],
    ["build/?state__slug=a", "The 'state' field does not support relations."],
    ["build/?success=maybe", "'maybe' value must be either True or False."],
    ["build/?limit=x&order_by=&date=x", MISMATCHED],
    ["build/?date=yesterday", MISMATCHED],
    ["build/?project=/api/v1/user/1/", MISMATCHED],
    ["file/search/?q=harbor&page=0", "Invalid page '0' provided. Please provide a positive integer."],
    ["file/search/?q=harbor&page=x", "Invalid page 'x' provided. Please provide a positive integer."],
  ])("%s is refused", async (path, error) => {
    const reply = await askMirror(`/api/v1/${path}`);
    expect([reply.status, await reply.json()]).toEqual([400, { error }]);
  });

  it.each([
    ["build", "state=building", 3],
    ["build", "id=91210", 1],
    ["build", "project=/api/v1/project/32/", 0],
    ["build", "project=45", 34],
    ["build", "project=/api/v1/project/45/", 34],
    ["build", "project=http://docs.example.org/api/v1/project/45", 34],
    ["build", "project__id=45", 34],
    ["build", "version__slug=latest&state=finished", 107],
    ["build", "version__project__id=45", 33],
    ["build", "constructor=x", 150],
    ["build", "__proto__=x", 150],
    ["build", "toString__slug=x", 150],
    ["user", "username=xena-rossi", 1],
    ["version", "active=true&slug=beta", 1],
    ["version", "project__users__username=xena-rossi", 28],
    ["file", "name=search.html", 15],
    ["project", "users=/api/v1/user/1/", 8],
    ["project", "slug=none", 0],
    ["project", "slug=true", 0],
    ["version", "date=2013", 79],
  ])("the %s list narrowed by %s has as many records as the recording", async (resource, query, count) => {
    const { meta } = await json(`/api/v1/${resource}/?${query}`);
    expect(meta.total_count).toBe(count);
  });

  it("a list asked for by a project's slug keeps the project in its next", async () => {
    const { meta } = await json("/api/v1/version/brook-lib/?limit=5");
    expect(meta.next).toBe("/api/v1/version/?project__slug=brook-lib&limit=5&offset=5");
    const [first, second] = [await json("/api/v1/version/brook-lib/?limit=10"), await json(meta.next)];
    expect(first.objects.slice(5)).toEqual(second.objects);
  });

  it("answers old clients as docs/serving.md says: plain JSON to a callback, and neither the highest version nor sets", async () => {
    const plain = await (await askMirror("/api/v1/build/?limit=1")).text();
    const called = await askMirror("/api/v1/build/?limit=1&callback=show");
    expect(called.headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(await called.text()).objects).toEqual(JSON.parse(plain).objects);
    for (const path of [
      "version/brook-lib/highest/",
      "version/brook-lib/highest/1.0/",
      "build/set/91210;91209/",
    ])
      expect([path, (await askMirror(`/api/v1/${path}`)).status]).toEqual([path, 404]);
  });

  it("paths may be written with percent signs, and a broken one is an unknown key", async () => {
    expect((await askMirror("/api/v1/%62uild/91210/")).status).toBe(200);
    expect((await askMirror("/%61pi/v1/project/brook%2Dlib/")).status).toBe(200);
    expect((await askMirror("/api/v1/project/%zz/")).status).toBe(404);
    expect((await askMirror("/api/v1/project/brook%2Flib/")).status).toBe(404);
  });
});

describe("rendered JSON", () => {
  it.each([
    ['{"id":"1","__proto__":{"a":1},"b":2}', '{"__proto__":{"a":1},"b":2,"id":"1"}'],
    [
      '{"id":"1","__proto__":"text","b":[{"z":1,"__proto__":null}]}',
      '{"__proto__":"text","b":[{"__proto__":null,"z":1}],"id":"1"}',
    ],
    ['{"constructor":1,"__proto__":{"z":1,"a":2}}', '{"__proto__":{"a":2,"z":1},"constructor":1}'],
  ])("%s keeps every field", (sent, sorted) => {
    expect(renderJson(JSON.parse(sent)).toString()).toBe(sorted);
  });

  it("of a page is that of its envelope", async () => {
    const meta = { total_count: 2, limit: 20 };
    for (const objects of [[], [{ b: "é", a: [{ d: 1, c: null }] }, { id: "2" }]])
      expect(await renderPage(meta, objects)).toEqual(renderJson({ meta, objects }));
  });
});

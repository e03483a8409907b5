import { describe, expect, it } from "vitest";
import { createProtocol, MIRROR } from "../../../src/serve/protocol/protocol.ts";
import { recordedExchanges } from "../../support/recorded-exchanges.ts";
import { createRecordedCatalog } from "./recorded-catalog.ts";

const exchanges = recordedExchanges();
const app = createProtocol({ catalog: createRecordedCatalog(exchanges), manners: MIRROR });
const ask = async (path: string, init?: RequestInit): Promise<Response> => app.request(path, init);
const json = async (path: string) =>
  (await (await ask(path)).json()) as { meta: { total_count: number; next: string }; objects: unknown[] };

const MISMATCHED = "Invalid resource lookup data provided (mismatched type).";
const BY_DATE = "This list is ordered by 'date', the last first.";
const NOT_BY_SLUG = "The 'slug' field does not allow ordering.";

describe("with the mirror's manners", () => {
  it.each(
    exchanges.filter(
      ({ method, status, path }) => method === "GET" && status !== 301 && !path.includes("date="),
    ),
  )("$path is answered as recorded", async ({ path, status, headers, body }) => {
    const reply = await ask(path);
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
    const reply = await ask(path);
    expect(reply.status).toBe(200);
    const [before, query = ""] = path.split("?");
    expect(await reply.text()).toBe(await (await ask(`${before}/?${query}`)).text());
  });

  it("HEAD answers as GET does, without a body", async () => {
    for (const path of ["/api/v1/build/", "/api/v1/build/91210/", "/api/v1/nosuch/"]) {
      const [head, get] = [await ask(path, { method: "HEAD" }), await ask(path)];
      expect(head.status).toBe(get.status);
      expect(await head.text()).toBe("");
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    }
  });

  it("OPTIONS names the methods, and other methods are refused with them", async () => {
    const options = await ask("/api/v1/build/", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const reply = await ask("/api/v1/build/", { method });
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
    const reply = await ask(`/api/v1/${path}`);
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
    const plain = await (await ask("/api/v1/build/?limit=1")).text();
    const called = await ask("/api/v1/build/?limit=1&callback=show");
    expect(called.headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(await called.text()).objects).toEqual(JSON.parse(plain).objects);
    for (const path of [
      "version/brook-lib/highest/",
      "version/brook-lib/highest/1.0/",
      "build/set/91210;91209/",
    ])
      expect([path, (await ask(`/api/v1/${path}`)).status]).toEqual([path, 404]);
  });

  it("paths may be written with percent signs, and a broken one is an unknown key", async () => {
    expect((await ask("/api/v1/%62uild/91210/")).status).toBe(200);
    expect((await ask("/%61pi/v1/project/brook%2Dlib/")).status).toBe(200);
    expect((await ask("/api/v1/project/%zz/")).status).toBe(404);
    expect((await ask("/api/v1/project/brook%2Flib/")).status).toBe(404);
  });
});

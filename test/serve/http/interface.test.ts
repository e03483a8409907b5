import { describe, expect, it } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { createHandClock, settle } from "../../support/fake-clock.ts";
import { later } from "../../support/tally.ts";
import { createKeptLines, serveWorld } from "./simulated-app.ts";

const failing = (error: Error) => ({
  list: () => Promise.reject(error),
  find: () => Promise.reject(error),
  searchDocs: () => Promise.reject(error),
});
const PATHS = ["/api/v1/build/", "/api/v1/user/5/", "/api/v2/docsearch/?project=a&q=b"];
const storeError = (sqlstate?: string) => new StoreError("secret of 192.0.2.1:5432", { sqlstate });
const sqlError = (code: string) => Object.assign(new Error("secret of the database"), { code });

describe("the interface", () => {
  it.each([
    ["does not answer", storeError("ECONNREFUSED"), /^The database does not answer\. Try again later\.$/],
    ["is not open yet", storeError(), /^The database does not answer\. Try again later\.$/],
    ["breaks a connection", sqlError("CONNECTION_CLOSED"), /^The database does not answer\. /],
    ["denies a right", storeError("42501"), /^The role of this server lacks a right in the database\. /],
    [
      "takes too long",
      storeError("57014"),
      /^The answer took too long\. Ask for less, or try again later\.$/,
    ],
  ])("answers 503 and when to come back where the database %s", async (_case, error, sentence) => {
    const { log, lines } = createKeptLines();
    await using app = await serveWorld(failing(error), {}, log);
    for (const path of PATHS) {
      const reply = await app.get(path);
      expect([reply.status, await reply.json()]).toEqual([503, { error: expect.stringMatching(sentence) }]);
      expect(reply.headers.get("retry-after")).toBe("10");
      expect(reply.headers.get("cache-control")).toBe("no-store");
    }
    expect(lines.map(({ level }) => level)).toEqual([40, 40, 40]);
  });

  it.each([
    ["a bug", new TypeError("x is not a function")],
    ["wrong SQL", storeError("42703")],
    ["data that Postgres refuses", storeError("22P02")],
  ])("answers 500 with a fixed sentence for %s, and logs it", async (_case, error) => {
    const { log, lines } = createKeptLines();
    await using app = await serveWorld(failing(error), {}, log);
    const reply = await app.get("/api/v1/build/");
    expect([reply.status, await reply.json()]).toEqual([
      500,
      { error: "docmirror has a fault. Its log has the details." },
    ]);
    expect(lines).toMatchObject([{ level: 50, msg: "a request failed", path: "/api/v1/build/" }]);
  });

  it("answers 503 where the moment of the data cannot be read", async () => {
    const lastModified = () => Promise.reject(new StoreError("away"));
    await using app = await serveWorld({ lastModified });
    const reply = await app.get("/api/v1/build/");
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "10"]);
  });

  it.each([
    "find",
    "lastModified",
  ])("never hangs: 503 after 15 s where the catalog is silent when asked to %s", async (question) => {
    const clock = createHandClock("2026-03-11T22:10:00Z");
    const asked = later();
    const silent = () => {
      asked.resolve();
      return new Promise<never>(() => {});
    };
    const { log, lines } = createKeptLines();
    await using app = await serveWorld({ [question]: silent }, { clock }, log);
    let isAnswered = false;
    const reply = app.get("/api/v1/user/5/", { "x-request-id": "quoted" }).finally(() => {
      isAnswered = true;
    });
    await asked.promise;
    await clock.advance(14_999);
    await settle();
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect((await reply).status).toBe(503);
    expect(lines).toMatchObject([{ msg: "a request was given up", request_id: "quoted" }]);
  });

  it("leaves refusals of the protocol as they are", async () => {
    await using app = await serveWorld();
    const refused = await app.get("/api/v1/build/?limit=x");
    const error = expect.stringContaining("Invalid limit 'x' provided.");
    expect([refused.status, await refused.json()]).toEqual([400, { error }]);
    const absent = await app.get("/api/v1/build/999999999/");
    const type = absent.headers.get("content-type");
    expect([absent.status, await absent.text(), type]).toEqual([404, "", "text/html; charset=utf-8"]);
  });

  it("is asked before the pages, which answer every other path", async () => {
    await using app = await serveWorld();
    expect(await (await app.get("/project/pip")).text()).toBe("a page");
    for (const path of ["/api", "/api/", "/api/v3/"]) {
      expect(await (await app.get(path)).text()).toContain("not found on this server");
    }
    expect(await (await app.get("/%61pi/v1/user/")).text()).not.toBe("a page");
  });
});

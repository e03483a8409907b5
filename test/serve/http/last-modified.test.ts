import { describe, expect, it } from "vitest";
import { serveWorld } from "./simulated-app.ts";

const MOMENT = new Date("2026-03-11T22:08:04.614Z");
const HEADER = "Wed, 11 Mar 2026 22:08:04 GMT";

describe("Last-Modified", () => {
  const lastModified = async (resource: string) => (resource === "build" ? MOMENT : undefined);

  it("is the moment of the resource's data, on its lists and details", async () => {
    await using app = await serveWorld({ lastModified });
    const dateOf = async (path: string) => (await app.get(path)).headers.get("last-modified");
    const { objects } = (await (await app.get("/api/v1/build/?limit=1")).json()) as {
      objects: { id: string }[];
    };
    expect(await dateOf("/api/v1/build/?limit=1")).toBe(HEADER);
    expect(await dateOf(`/api/v1/build/${objects[0]?.id}/`)).toBe(HEADER);
    for (const path of ["/api/v1/user/", "/api/v1/build/schema/", "/api/v1/build/0/", "/api/v1/"]) {
      expect(await dateOf(path), path).toBeNull();
    }
  });

  it.each([
    [HEADER, 304],
    ["Wed, 11 Mar 2026 22:09:00 GMT", 304],
    ["Wed, 11 Mar 2026 22:08:03 GMT", 200],
    ["yesterday", 200],
  ])("is compared with If-Modified-Since: %s gives %d", async (since, status) => {
    await using app = await serveWorld({ lastModified });
    const reply = await app.get("/api/v1/build/", { "if-modified-since": since });
    expect(reply.status).toBe(status);
    expect(reply.headers.get("last-modified")).toBe(HEADER);
    expect(reply.headers.get("etag")).not.toBeNull();
  });

  it("counts less than an entity tag", async () => {
    await using app = await serveWorld({ lastModified });
    const headers = { "if-modified-since": HEADER, "if-none-match": '"other"' };
    expect((await app.get("/api/v1/build/", headers)).status).toBe(200);
  });

  it("is left out in the minute of a change, by the clock that dated it", async () => {
    const asked: (number | undefined)[] = [];
    const unsettled = async (_: string, settledMs?: number) => void asked.push(settledMs);
    await using app = await serveWorld({ lastModified: unsettled });
    expect((await app.get("/api/v1/build/")).headers.get("last-modified")).toBeNull();
    expect(asked).toEqual([60_000]);
  });
});

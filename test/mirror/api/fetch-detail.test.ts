import { describe, expect, it } from "vitest";
import { UnexpectedShapeError } from "../../../src/base/errors.ts";
import { fetchDetail } from "../../../src/mirror/api/fetch-detail.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";

describe("fetchDetail", () => {
  it.each([
    ["42", "/api/v1/project/42/"],
    ["pip", "/api/v1/project/pip/"],
    ["a/b?c#d", "/api/v1/project/a%2Fb%3Fc%23d/"],
    ["döcs", "/api/v1/project/d%C3%B6cs/"],
  ])("asks for %s with the closing slash", async (key, path) => {
    await using server = await startScriptedServer([{ body: { id: 42, slug: "pip" } }]);
    await using client = createTestClient(server.url);
    const detail = await fetchDetail(client, "project", key);
    expect(detail).toMatchObject({ record: { id: 42, slug: "pip" }, request: path });
    expect(server.requests.map((request) => request.path)).toEqual([`${path}?format=json`]);
  });

  it("says when it asked and when the record was here", async () => {
    const clock = createFakeClock();
    await using server = await startScriptedServer(async () => {
      await clock.sleep(1000);
      return { body: { id: 42 } };
    });
    await using client = createTestClient(server.url, { clock });
    expect(await fetchDetail(client, "user", "42")).toMatchObject({
      askedAt: new Date("2024-05-15T12:00:00Z"),
      observedAt: new Date("2024-05-15T12:00:01Z"),
    });
  });

  it.each([
    ["a list came", { meta: {}, objects: [{ id: "1" }] }],
    ["no record with an id came", {}],
    ["no record with an id came", null],
    ["no record with an id came", [{ id: "1" }]],
  ])("says that %s where a record should", async (words, body) => {
    await using server = await startScriptedServer([{ body }]);
    await using client = createTestClient(server.url, { retries: 0 });
    const fetching = fetchDetail(client, "version", "pip");
    await expect(fetching).rejects.toThrow(UnexpectedShapeError);
    await expect(fetching).rejects.toThrow(words);
  });

  const OUTSIDE = [".", "..", "../../../admin", "1/../../admin", "..\\admin"];
  it.each(OUTSIDE)("does not ask for %s, which would lead elsewhere", async (key) => {
    await using server = await startScriptedServer([{ body: { id: key } }]);
    await using client = createTestClient(server.url);
    await expect(fetchDetail(client, "user", key)).rejects.toThrow(UnexpectedShapeError);
    expect(server.requests).toEqual([]);
  });
});

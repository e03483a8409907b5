import { describe, expect, it } from "vitest";
import { HttpStatusError, UnexpectedShapeError } from "../../../src/base/errors.ts";
import { fetchRootListing } from "../../../src/mirror/lists/root-listing.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { createTestClient } from "../../support/client.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";

async function readListing(body: unknown) {
  await using server = await startScriptedServer([{ body }]);
  await using client = createTestClient(server.url, { retries: 0 });
  return await fetchRootListing(client);
}

const USER = { list_endpoint: "/api/v1/user/", schema: "/api/v1/user/schema/" };

describe("the root listing", () => {
  it.each([
    [404, UnexpectedShapeError, /should be the part before/],
    [401, UnexpectedShapeError, /set user and password/],
    [408, HttpStatusError, /try again later/],
    [429, HttpStatusError, /the service limits requests/],
    [503, HttpStatusError, /try again later/],
  ])("that answers %i is of another service only where asking again would not help", async (status, kind, hint) => {
    await using server = await startScriptedServer([{ status, body: "" }]);
    await using client = createTestClient(server.url, { retries: 0 });
    const error = await fetchRootListing(client).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ hint: expect.stringMatching(hint) });
  });

  it("names the resources that are there, with the usual schema where none is named", async () => {
    expect(await readListing({ user: USER, build: { list_endpoint: "/api/v1/build/" } })).toEqual({
      resources: { user: USER, build: { list_endpoint: "/api/v1/build/", schema: "/api/v1/build/schema/" } },
      unknown: [],
    });
  });

  it("leaves out a resource whose endpoints have another shape", async () => {
    const odd = {
      project: null,
      version: [],
      file: { list_endpoint: 5 },
      build: { ...USER, schema: null },
      unknown: { list_endpoint: null },
      team: "text",
    };
    expect(await readListing({ user: USER, ...odd })).toEqual({ resources: { user: USER }, unknown: [] });
  });

  it("leaves out a resource on another host than the others", async () => {
    const build = { list_endpoint: "https://elsewhere.example/api/v1/build/" };
    const { resources } = await readListing({ user: USER, build });
    expect(resources).toEqual({ user: USER });
  });

  it.each([
    "http://backend.internal:8000",
    "https://127.0.0.1/rtd",
    "/rtd",
  ])("gives the paths below the base URL where the service sees itself at %s", async (front) => {
    const seen = (name: string) => ({
      list_endpoint: `${front}/api/v1/${name}/`,
      schema: `${front}/api/v1/${name}/schema/`,
    });
    const { resources } = await readListing({ user: seen("user"), build: seen("build"), team: seen("team") });
    const build = { list_endpoint: "/api/v1/build/", schema: "/api/v1/build/schema/" };
    expect(resources).toEqual({ user: USER, build });
  });

  it("takes the names of 20 others, shortened and cleaned", async () => {
    const others = Array.from({ length: 30 }, (_, index) => [`o${index}\u0000${"x".repeat(200)}`, USER]);
    const { unknown } = await readListing({ user: USER, ...Object.fromEntries(others) });
    expect(unknown).toHaveLength(20);
    expect(unknown[0]).toBe(`o0\uFFFD${"x".repeat(97)}`);
  });

  it.each([
    ["null", null],
    ["a list", [USER]],
    ["a text", '"user"'],
    ["a number", 5],
    ["nothing", {}],
    ["no known resource", { team: USER }],
    ["fields of a prototype", JSON.parse(`{"__proto__": {"user": ${JSON.stringify(USER)}}}`)],
  ])("is refused when it is %s", async (_, body) => {
    const listing = readListing(body);
    await expect(listing).rejects.toThrow(UnexpectedShapeError);
    await expect(listing).rejects.toThrow(
      `should list the resources ${RESOURCES.join(", ")} with their endpoints, but has none of them`,
    );
  });
});

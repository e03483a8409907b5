import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { type ServedInterface, serveInterface } from "../../support/served-pages.ts";

describe("a mirror of a service below a path", () => {
  let quick: QuickWorld;
  let served: ServedInterface;
  beforeAll(async () => {
    const sizes = { builds: 30, projects: 5, versions: 10, files: 5, users: 5 };
    quick = await startQuickWorld({ basePath: "/old/docs", ...sizes });
    await quick.sync();
    served = await serveInterface(quick.databaseUrl);
  });
  afterAll(async () => {
    await served?.[Symbol.asyncDispose]();
    await quick?.[Symbol.asyncDispose]();
  });

  it("answers the paths by which its records name each other", async () => {
    const { objects } = (await served.json("/api/v1/build/?limit=5")) as {
      objects: { id: string; resource_uri: string; project: string }[];
    };
    for (const { id, resource_uri, project } of objects) {
      expect(resource_uri).toBe(`/old/docs/api/v1/build/${id}/`);
      expect(await served.json(resource_uri)).toEqual(await served.json(`/api/v1/build/${id}/`));
      const reply = await served.get(project);
      expect([200, 404]).toContain(reply.status);
      expect(reply.headers.get("content-security-policy")).not.toBeNull();
    }
    const users = await served.json("/api/v1/user/?limit=2");
    expect(await served.json("/old/docs/api/v1/user?limit=2")).toEqual(users);
  });

  it("answers below no other path", async () => {
    for (const path of ["/old/api/v1/", "/old/docs/more/api/v1/", "/new/api/v1/build/"]) {
      const reply = await served.get(path);
      const type = reply.headers.get("content-type");
      expect([path, reply.status, type]).toEqual([path, 404, "text/html; charset=UTF-8"]);
    }
  });
});

import { describe, expect, test } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { editReplies, startQuickWorld } from "../../support/quick-world.ts";

/** A service whose links all have this in front of their path, as a server has them that does not know its proxy. */
function startBehindProxy(front: string, basePath = "") {
  return startQuickWorld(
    { users: 8, projects: 8, versions: 10, files: 8, builds: 50, basePath },
    editReplies((text) => text.replaceAll(`"${basePath}/api/v1/`, `"${front}/api/v1/`)),
  );
}

describe("a service behind a proxy", () => {
  test.each([
    ["another scheme, host and port", "https://backend.internal:8000", ""],
    ["another host with an inner prefix", "//backend.internal/rtd", ""],
    ["no prefix where the proxy has one", "", "/docs"],
    ["%7E where the proxy has ~", "/%7Edocs", "/~docs"],
  ])("that sees itself with %s is read whole, and its references find their records", async (_, front, basePath) => {
    await using quick = await startBehindProxy(front, basePath);
    const { summary } = await quick.sync({ kind: "full" });
    expect(summary.status).toBe("succeeded");
    for (const resource of RESOURCES) expect(summary.resources[resource]).toMatchObject({ walk: "whole" });
    quick.world.advance(60_000);
    quick.world.triggerBuilds(2);
    expect((await quick.watch()).summary.status).toBe("succeeded");
    // A user that the service itself has lost is another matter.
    const strangers = await quick.sql`
      select resource, uri, status from mirror.unresolved_references where status <> 'gone'`;
    expect([...strangers]).toEqual([]);
    expect(await quick.sql`select id from mirror.builds where project_id is null`).toHaveLength(0);
  });
});

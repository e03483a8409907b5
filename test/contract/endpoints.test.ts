import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServiceClient } from "../../src/client/service-client.ts";
import { serviceClientOver } from "../../src/client/service-client-over.ts";
import { readPage } from "../../src/mirror/content/read-page.ts";
import { runSync, type SyncOptions } from "../../src/mirror/run/run.ts";
import { withContent } from "../../src/mirror/run/with-content.ts";
import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { asSent } from "../support/canonical-json.ts";
import { createTestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { serveInterface } from "../support/served-pages.ts";
import { createWorld, startSimulation } from "../support/simulation.ts";
import { withDefaults } from "../support/sync.ts";
import { ENDPOINTS, type Facts } from "./endpoints.ts";

interface Server {
  url: string;
  facts: Facts;
  stop(): Promise<void>;
}

const BASE = "/old/docs";
const world = createWorld({
  users: 12,
  projects: 8,
  versions: 30,
  files: 40,
  builds: 60,
  rates: QUIET,
  basePath: BASE,
});

describe("the table", () => {
  it("has a row for each endpoint: a list and a detail of each resource, the root, and four searches", () => {
    expect(new Set(ENDPOINTS.map(({ path }) => path)).size).toBe(2 * RESOURCES.length + 5);
  });
});

// test/serve/protocol has each exchange of the recorded service.
const SERVERS: readonly [string, () => Promise<Server>, string[]][] = [
  ["the simulated service, below a path", startSimulated, ["long"]],
  ["a mirror whose service is gone", startMirror, []],
];
for (const [name, start, tags] of SERVERS)
  describe(name, { tags }, () => {
    let server: Server;
    let service: ServiceClient;
    const ask = (path: string) => fetch(server.url + path, { redirect: "manual" });
    beforeAll(async () => {
      server = await start();
      service = serviceClientOver(createTestClient(server.url));
    });
    afterAll(async () => {
      await service?.close();
      await server?.stop();
    });

    describe.each(ENDPOINTS)("$path", ({ ask: pathOf, holds, call, gives, refuses }) => {
      it("answers as documented", async () => {
        const reply = await ask(pathOf(server.facts));
        expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/json"]);
        holds((await reply.json()) as never, server.facts);
      });

      it("gives the client what it answers", async () => {
        const body = await (await ask(pathOf(server.facts))).json();
        expect(asSent(await call(service, server.facts))).toEqual(gives ? gives(body as never) : body);
      });

      it.each(refuses)("refuses $path", async ({ path, status, type, body, client }) => {
        const reply = await ask(path);
        const text = await reply.text();
        expect([reply.status, reply.headers.get("content-type")]).toEqual([status, type]);
        expect(type === "application/json" ? JSON.parse(text) : text).toEqual(body);
        if (client) await expect(client[0](service)).rejects.toThrow(client[1]);
      });
    });
  });

async function startSimulated(): Promise<Server> {
  const { url, close } = await startSimulation({ world });
  return { url, facts: await readFacts(url, BASE), stop: close };
}

/** A mirror of the same world with its texts. The service ends before the mirror is asked. */
async function startMirror(): Promise<Server> {
  const { url, close } = await startSimulation({ world });
  const facts = { ...(await readFacts(url, BASE)), base: "" };
  const database = await createTestDatabase();
  const options = withDefaults<SyncOptions>(database.url, new URL(url), { settings: { content: true } });
  await withContent(runSync)(options);
  await close();
  const served = await serveInterface(database.url);
  const stop = async () => {
    await served[Symbol.asyncDispose]();
    await database.dispose();
  };
  return { url: served.url, facts, stop };
}

const perResource = <T>(value: (resource: Resource) => T) =>
  Object.fromEntries(RESOURCES.map((resource) => [resource, value(resource)])) as Record<Resource, T>;

async function readFacts(url: string, base: string): Promise<Facts> {
  await using client = createTestClient(url);
  const service = serviceClientOver(client);
  const pages = await Promise.all(RESOURCES.map((resource) => service.fetchPage(resource, { limit: 1 })));
  const pageOf = (resource: Resource) => pages[RESOURCES.indexOf(resource)];
  const [file] = (await service.fetchPage("file", { limit: 1 })).objects;
  const page = readPage(world.page(file?.absolute_url ?? "")?.html ?? "");
  const slug = file?.project?.slug ?? "";
  const [, version = ""] = /\/en\/([^/]+)\//.exec(file?.absolute_url ?? "") ?? [];
  return {
    base,
    counts: perResource((one) => pageOf(one)?.meta.total_count ?? 0),
    ids: perResource((one) => pageOf(one)?.objects[0]?.id ?? ""),
    slug,
    word: page.text.split(" ")[3]?.replace(/\W/g, "") ?? "",
    anchor: file?.name?.replace(/\.html$/, "") ?? "",
    docs: { project: slug, version },
  };
}

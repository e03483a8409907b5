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
import { recordedExchanges } from "../support/recorded-exchanges.ts";
import { startReplay } from "../support/replay-upstream.ts";
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

const asked = recordedExchanges().filter(({ method }) => method === "GET");
const recorded = new Map(asked.map((exchange) => [exchange.path, exchange]));
const hasAll = () => true;

describe("the table", () => {
  it("has a row for each endpoint: a list and a detail of each resource, the root, and four searches", () => {
    expect(new Set(ENDPOINTS.map(({ path }) => path)).size).toBe(2 * RESOURCES.length + 5);
  });
});

const SERVERS: readonly [string, () => Promise<Server>, (path: string) => boolean, string[]][] = [
  ["the simulated service, below a path", startSimulated, hasAll, ["long"]],
  // test/serve/protocol has each of its exchanges.
  ["the recorded service", startRecorded, (path) => recorded.has(path), ["long"]],
  ["a mirror whose service is gone", startMirror, hasAll, []],
];
for (const [name, start, hasRefusal, tags] of SERVERS)
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

      it.each(refuses.filter((refusal) => hasRefusal(refusal.path)))("refuses $path", async ({
        path,
        status,
        type,
        body,
        client,
      }) => {
        const reply = await ask(path);
        const text = await reply.text();
        expect([reply.status, reply.headers.get("content-type")]).toEqual([status, type]);
        expect(type === "application/json" ? JSON.parse(text) : text).toEqual(body);
        if (client) await expect(client[0](service)).rejects.toThrow(client[1]);
      });
    });

    it("answers a detail without the closing slash, at once or after a redirect", async () => {
      for (const { path, ask: pathOf } of ENDPOINTS.filter((endpoint) => endpoint.path.endsWith("/ID/"))) {
        const whole = server.url + pathOf(server.facts);
        const reply = await fetch(whole.replace(/\/$/, ""));
        expect(reply.status, path).toBe(200);
        expect(await reply.json()).toEqual(await (await fetch(whole)).json());
      }
    });

    it("lists the records of each resource once, page after page", async () => {
      for (const resource of RESOURCES) {
        const ids = new Set<string>();
        for await (const { id } of service.list(resource, { pageSize: 7 })) ids.add(id);
        expect(ids.size).toBe(server.facts.counts[resource]);
      }
    });

    it("finds a project by its slug, and the versions of it", async () => {
      const { slug } = server.facts;
      const project = await service.fetchRecord("project", slug);
      expect(project.slug).toBe(slug);
      const versions = [];
      for await (const version of service.versionsOf(slug)) versions.push(version);
      expect(versions.length).toBeGreaterThan(1);
      expect(new Set(versions.map((version) => version.project?.slug))).toEqual(new Set([slug]));
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

async function startRecorded(): Promise<Server> {
  const replay = await startReplay();
  const facts: Facts = {
    base: "",
    counts: perResource(
      (resource) => JSON.parse(recorded.get(`/api/v1/${resource}/`)?.body ?? "").meta.total_count,
    ),
    ids: perResource(recordedIdOf),
    slug: "brook-lib",
    word: "kestrel",
    anchor: "py-modindex",
    docs: { project: "lark-kit", version: "v1.13.8" },
  };
  return { url: replay.url.origin, facts, stop: replay.close };
}

function recordedIdOf(resource: Resource): string {
  const paths = [...recorded].flatMap(([path, { status }]) => (status === 200 ? [path] : []));
  const ids = paths.map((path) => new RegExp(`^/api/v1/${resource}/(\\d+)/$`).exec(path)?.[1]);
  return ids.find((id) => id !== undefined) ?? "";
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

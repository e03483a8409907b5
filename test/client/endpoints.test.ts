import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServiceClient } from "../../src/client/service-client.ts";
import { serviceClientOver } from "../../src/client/service-client-over.ts";
import { readPage } from "../../src/content/read-page.ts";
import { startSimulation } from "../../src/simulate/service.ts";
import { createWorld } from "../../src/simulate/world.ts";
import { RESOURCES } from "../../src/wire/resources.ts";
import { createTestClient } from "../support/client.ts";
import { startReplay } from "../support/replay-upstream.ts";

/** What a service has: an id of each resource, a project with its slug, and words that its searches find. */
interface Facts {
  counts: Record<"user" | "project" | "version" | "file" | "build", number>;
  ids: Record<"user" | "project" | "version" | "file" | "build", string>;
  slug: string;
  word: string;
  anchor: string;
  docs: { project: string; version: string };
}

/** One row for each of the 15 endpoints: the call, and what is true of its answer. */
const ENDPOINTS: readonly [
  path: string,
  call: (service: ServiceClient, facts: Facts) => Promise<unknown>,
  holds: (answer: never, facts: Facts) => void,
][] = [
  [
    "/api/v1/",
    (service) => service.fetchRoot(),
    (root: object) => expect(Object.keys(root).toSorted()).toEqual([...RESOURCES].toSorted()),
  ],
  ...RESOURCES.flatMap((resource): (typeof ENDPOINTS)[number][] => [
    [
      `/api/v1/${resource}/`,
      (service) => service.fetchPage(resource, { limit: 5 }),
      (page: object, { counts }) => {
        expect(page).toMatchObject({ meta: { limit: 5, offset: 0, total_count: counts[resource] } });
        expect(page).toHaveProperty("objects.length", Math.min(5, counts[resource]));
      },
    ],
    [
      `/api/v1/${resource}/ID/`,
      (service, { ids }) => service.fetchRecord(resource, ids[resource]),
      (record: object, { ids }) =>
        expect(record).toMatchObject({
          id: ids[resource],
          resource_uri: expect.stringMatching(new RegExp(`/api/v1/${resource}/${ids[resource]}/$`)),
        }),
    ],
  ]),
  [
    "/api/v1/file/search/",
    (service, { word }) => service.searchFiles(word),
    (hits: { text: string }[], { word }) => {
      expect(hits.length).toBeGreaterThan(0);
      expect(hits[0]?.text.toLowerCase()).toContain(`<span class="highlighted">${word}</span>`);
    },
  ],
  [
    "/api/v1/file/anchor/",
    (service, { anchor }) => service.searchAnchors(anchor),
    (addresses: string[], { anchor }) => expect(addresses[0]).toMatch(new RegExp(`#${anchor}$`)),
  ],
  [
    "/api/v2/docsearch/",
    (service, { docs, word }) => service.searchDocs({ ...docs, q: word }),
    (found: object, { docs }) =>
      expect(found).toMatchObject({
        total: expect.any(Number),
        max_score: expect.any(Number),
        hits: expect.arrayContaining([
          {
            fields: expect.objectContaining({ project: [docs.project], version: [docs.version] }),
            highlight: { content: [expect.stringMatching(/<em>/)] },
          },
        ]),
      }),
  ],
  [
    "/api/v1/RESOURCE/schema/",
    (service) => service.fetchSchema("build"),
    (schema: object) => expect(schema).toHaveProperty("fields.state.type", "string"),
  ],
];

const world = createWorld({
  users: 12,
  projects: 8,
  versions: 30,
  files: 40,
  builds: 60,
  basePath: "/old/docs",
});

describe.each([
  ["the simulated service, below a path", startSimulated],
  ["the recorded service", startRecorded],
])("every endpoint of %s", (_, start) => {
  let service: ServiceClient;
  let facts: Facts;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ service, facts, stop } = await start());
  });
  afterAll(async () => {
    await service.close();
    await stop();
  });

  it("is asked by a row of the table", () => expect(ENDPOINTS).toHaveLength(15));

  it.each(ENDPOINTS)("%s answers as documented", async (_path, call, holds) => {
    holds((await call(service, facts)) as never, facts);
  });

  it("lists the records of each resource once, page after page", async () => {
    for (const resource of RESOURCES) {
      const ids = new Set<string>();
      for await (const { id } of service.list(resource, { pageSize: 7 })) ids.add(id);
      expect(ids.size).toBe(facts.counts[resource]);
    }
  });

  it("finds a project by its slug, and the versions of it", async () => {
    const project = await service.fetchRecord("project", facts.slug);
    expect(project.slug).toBe(facts.slug);
    const versions = [];
    for await (const version of service.versionsOf(facts.slug)) versions.push(version);
    expect(versions.length).toBeGreaterThan(1);
    expect(new Set(versions.map((version) => version.project?.slug))).toEqual(new Set([facts.slug]));
  });
});

async function startSimulated() {
  const simulation = await startSimulation({ world });
  const service = serviceClientOver(createTestClient(simulation.url));
  const { objects } = await service.fetchPage("file", { limit: 1 });
  const file = objects[0];
  const first = async (resource: "user" | "project" | "version" | "build") =>
    (await service.fetchPage(resource, { limit: 1 })).objects[0]?.id ?? "";
  const [, version = ""] = /\/en\/([^/]+)\//.exec(file?.absolute_url ?? "") ?? [];
  const counts = {} as Facts["counts"];
  for (const resource of RESOURCES)
    counts[resource] = (await service.fetchPage(resource, { limit: 1 })).meta.total_count ?? 0;
  const facts: Facts = {
    counts,
    ids: {
      user: await first("user"),
      project: await first("project"),
      version: await first("version"),
      file: file?.id ?? "",
      build: await first("build"),
    },
    slug: file?.project?.slug ?? "",
    word:
      readPage(world.page(file?.absolute_url ?? "")?.html ?? "")
        .text.split(" ")[3]
        ?.replace(/\W/g, "") ?? "",
    anchor: file?.name?.replace(/\.html$/, "") ?? "",
    docs: { project: file?.project?.slug ?? "", version },
  };
  return { service, facts, stop: simulation.close };
}

async function startRecorded() {
  const replay = await startReplay();
  const facts: Facts = {
    counts: { user: 24, project: 27, version: 79, file: 70, build: 150 },
    ids: { user: "7", project: "11", version: "5047", file: "332000", build: "91208" },
    slug: "brook-lib",
    word: "kestrel",
    anchor: "py-modindex",
    docs: { project: "lark-kit", version: "v1.13.8" },
  };
  return { service: serviceClientOver(createTestClient(replay.url)), facts, stop: replay.close };
}

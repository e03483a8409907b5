/**
 * The mirror and the service that it mirrors are asked the same random paths. They must answer alike: the same
 * status, the same body, and never a failure. FUZZ_SEED=… plays a run again.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runSync, type SyncOptions } from "../../../src/mirror/run/run.ts";
import { withContent } from "../../../src/mirror/run/with-content.ts";
import { fieldOf, fieldsOf, RESOURCES, type Resource, targetOf } from "../../../src/resources/resources.ts";
import { MIRROR } from "../../../src/serve/protocol/protocol.ts";
import { createRandom, type Random } from "../../../src/simulate/random.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { type ServedInterface, serveInterface } from "../../support/served-pages.ts";
import { createWorld, type Simulation, startSimulation } from "../../support/simulation.ts";
import { withDefaults } from "../../support/sync.ts";

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);

let database: TestDatabase;
let service: Simulation;
let served: ServedInterface;
/** Values that records really have, by field. */
const known = new Map<string, unknown[]>();

beforeAll(async () => {
  const sizes = { users: 12, projects: 10, versions: 25, files: 40, builds: 60 };
  const nature = { ties: "by id", hiddenShare: 0.1, rates: QUIET, outputBytes: 100 } as const;
  const world = createWorld({ ...sizes, ...nature, seed: 5 });
  service = await startSimulation({ world, manners: MIRROR, cacheBytes: 0 });
  database = await createTestDatabase();
  await withContent(runSync)({
    ...withDefaults<SyncOptions>(database.url, new URL(service.url), { settings: { content: true } }),
  });
  served = await serveInterface(database.url);
  for (const resource of RESOURCES) {
    const page = (await served.json(`/api/v1/${resource}/?limit=0`)) as {
      objects: Record<string, unknown>[];
    };
    for (const record of page.objects) {
      for (const [field, value] of Object.entries(record)) {
        const name = `${resource}.${field}`;
        known.set(name, [...(known.get(name) ?? []), value]);
      }
    }
  }
});

afterAll(async () => {
  await served?.[Symbol.asyncDispose]();
  await service?.close();
  await database?.dispose();
});

const ODD = [
  ...["", "0", "1", "-1", "+5", "007", "1e3", "1.5", " 2", "999999999999999999999"],
  ...["none", "None", "null", "true", "False", "schema", "search", "latest"],
  ...["%", "_", "\\", "'", '"', "a'; drop table mirror.users; --", "\u0000", "\ud83d\ude00", "é"],
  ...["x".repeat(300), "../../..", "<b>", "constructor", "__proto__", "toString"],
  ...["2013-01-01", "2013-02-30", "2013-01-01T00:00:00.1", "/api/v1/project/1/"],
];
const WORDS = ["oak", "reed", "index", "meadow", "stork", "py", "modindex", "cedar"];
const LOOKUPS = ["", "", "", "", "", "__exact", "__gt", "__in", "__contains", "__nosuch", "__"];

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.int(from.length)] as T;
}

function anyPath(random: Random): string {
  const chance = random.next();
  const resource = pick(random, RESOURCES);
  if (chance < 0.45) return `/api/v1/${resource}${slash(random)}${anyQuery(random, resource)}`;
  if (chance < 0.75)
    return `/api/v1/${resource}/${encode(random, anyKey(random, resource))}${slash(random)}${anyQuery(random, resource, 0.2)}`;
  if (chance < 0.78) return `/api/v1/${resource}/schema${slash(random)}`;
  if (chance < 0.8) return `/api/v1${slash(random)}`;
  if (chance < 0.95) return anySearch(random);
  const segments = Array.from({ length: random.int(6) }, () =>
    encode(random, pick(random, ["api", "v1", "v2", "docsearch", resource, ...ODD])),
  );
  return `/${["api", ...segments].join("/")}${slash(random)}`;
}

const slash = (random: Random) => (random.chance(0.8) ? "/" : "");

function encode(random: Random, text: string): string {
  const encoded = encodeURIComponent(text);
  return random.chance(0.05) && /^[a-z]/.test(text)
    ? `%${text.charCodeAt(0).toString(16)}${encodeURIComponent(text.slice(1))}`
    : encoded;
}

function anyKey(random: Random, resource: Resource): string {
  const chance = random.next();
  if (chance < 0.5) return asText(pick(random, known.get(`${resource}.id`) ?? [""]));
  if (chance < 0.75) return asText(pick(random, known.get("project.slug") ?? [""]));
  return pick(random, ODD);
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return asText(value[0] ?? "");
  if (typeof value === "object" && value !== null) {
    const { id, resource_uri } = value as { id: string; resource_uri: string };
    return id.endsWith("1") ? resource_uri : id;
  }
  return String(value);
}

function anyQuery(random: Random, resource: Resource, share = 1): string {
  const query = new URLSearchParams();
  if (random.chance(0.5 * share))
    query.append("limit", String(pick(random, [0, 1, 2, 5, 7, 20, 100, 1000, 5000, ...ODD])));
  if (random.chance(0.4 * share))
    query.append("offset", String(pick(random, [0, 1, 3, 20, 50, 1000, ...ODD])));
  if (random.chance(0.3 * share)) query.append("format", random.chance(0.9) ? "json" : pick(random, ODD));
  for (let filters = random.chance(0.6 * share) ? 1 + random.int(2) : 0; filters > 0; filters--) {
    query.append(...anyFilter(random, resource));
  }
  return query.size === 0 ? "" : `?${query}`;
}

function anyFilter(random: Random, resource: Resource): [string, string] {
  if (random.chance(0.1))
    return [pick(random, ["page", "q", "nosuch", "order_by", "sort_by", ...ODD]), pick(random, ODD)];
  const fields = fieldsOf(resource).map(([name]) => name);
  const field = pick(random, fields);
  const related = resource === "project" ? undefined : targetOf(fieldOf(resource, field));
  if (related !== undefined && random.chance(0.6)) {
    const [name, value] = anyFilter(random, related);
    return [`${field}__${name}`, value];
  }
  const value = random.chance(0.75)
    ? asText(pick(random, known.get(`${resource}.${field}`) ?? [""]))
    : pick(random, ODD);
  return [`${field}${pick(random, LOOKUPS)}`, value];
}

function anySearch(random: Random): string {
  const words = Array.from({ length: 1 + random.int(2) }, () => pick(random, WORDS)).join(" ");
  const q = encodeURIComponent(random.chance(0.85) ? words : pick(random, ODD));
  const slug = encodeURIComponent(asText(pick(random, known.get("project.slug") ?? [""])));
  return pick(random, [
    `/api/v1/file/search/?q=${q}`,
    `/api/v1/file/search/?q=${q}&page=${encodeURIComponent(pick(random, ["1", "2", ...ODD]))}`,
    `/api/v1/file/anchor/?q=${q}`,
    `/api/v2/docsearch/?project=${slug}&version=latest&q=${q}`,
    `/api/v2/docsearch/?project=${slug}&q=${q}`,
    `/api/v2/docsearch/?project=${encodeURIComponent(pick(random, ODD))}&q=${q}`,
  ]);
}

async function answer(base: string, path: string) {
  const reply = await fetch(base + path, { redirect: "manual" });
  const type = reply.headers.get("content-type");
  const text = await reply.text();
  const body: unknown = type === "application/json" ? JSON.parse(text) : text;
  return { status: reply.status, type, body };
}

type Answer = Awaited<ReturnType<typeof answer>>;

/** The service does not rank its hits, shows 20 at most, and leaves out a colon. */
function inAnyOrder(path: string, { status, type, body }: Answer): Answer {
  if (status !== 200 || !/search|anchor/.test(path)) return { status, type, body };
  const { objects, results } = body as { objects?: unknown[]; results?: { hits: { total: number } } };
  if (results) return { status, type, body: results.hits.total };
  const hits = objects?.map((hit) =>
    typeof hit === "string" ? hit.replace("http//", "http://") : JSON.stringify(hit),
  );
  if (path.includes("page=")) return { status, type, body: hits?.length };
  if ((hits?.length ?? 0) >= 20) return { status, type, body: "20 or more" };
  return { status, type, body: hits?.sort() };
}

async function compare(count: number): Promise<Map<number, number>> {
  const random = createRandom(SEED);
  const statuses = new Map<number, number>();
  for (let asked = 0; asked < count; asked++) {
    const path = anyPath(random);
    const [ours, theirs] = await Promise.all([answer(served.url, path), answer(service.url, path)]);
    const isSearch = /\/(search|anchor)\/?\?|docsearch/.test(path);
    const view = (one: Answer) => (isSearch ? inAnyOrder(path, one) : one);
    expect(view(ours), `FUZZ_SEED=${SEED}: ${path}`).toEqual(view(theirs));
    expect(ours.status, path).toBeLessThan(500);
    statuses.set(ours.status, (statuses.get(ours.status) ?? 0) + 1);
  }
  return statuses;
}

describe("the mirror and the service", () => {
  it("answer 60 random paths alike", async () => {
    await compare(60);
  });

  it("answer 1,000 random paths alike, others in each run", { tags: ["long", "exhaustive"] }, async () => {
    const statuses = await compare(1000);
    // The paths are of all kinds.
    for (const status of [200, 400, 404]) expect(statuses.get(status)).toBeGreaterThan(50);
  });
});

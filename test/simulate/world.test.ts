import { describe, expect, test } from "vitest";
import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { QUIET, type WorldOptions } from "../../src/simulate/settings.ts";
import { createWorld, type World } from "../support/simulation.ts";
import { trueRecords, walkList } from "./walk-world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const small = { users: 60, projects: 40, versions: 200, files: 150, builds: 900 } satisfies WorldOptions;

async function everything(world: World): Promise<unknown> {
  const lists = await Promise.all(RESOURCES.map((resource) => walkList(world, resource)));
  return { lists, transitions: [...world.truth().transitions()], deletions: world.truth().deletions() };
}

describe("a world", () => {
  test("has as many records as asked for, about 15,000 by default", async () => {
    const world = createWorld();
    const counts = RESOURCES.map((resource) => [resource, [...world.truth().records(resource)].length]);
    const asked = { user: 800, project: 700, version: 3000, file: 3500, build: 7000 };
    expect(Object.fromEntries(counts)).toMatchObject(asked);
  });

  test("has no build from before its project", () => {
    const { records } = createWorld(small).truth();
    const published = new Map(
      [...records("project")].map(({ record }) => [record.resource_uri, record.pub_date]),
    );
    const early = [...records("build")].filter(
      ({ record: { project, date } }) => date < (published.get(project) ?? ""),
    );
    expect(published.size).toBe(small.projects);
    expect(early).toEqual([]);
  });

  test("is the same for the same seed, and has the same future", { tags: ["long"] }, async () => {
    const [one, two] = [createWorld(small), createWorld(small)];
    expect(await everything(one)).toEqual(await everything(two));
    for (const world of [one, two]) world.advance(3 * DAY);
    expect(await everything(one)).toEqual(await everything(two));
  });

  test("comes to the same however its time is cut", async () => {
    const [whole, cut] = [createWorld(small), createWorld(small)];
    whole.advance(2 * DAY);
    for (let step = 0; step < 96; step++) cut.advance(DAY / 48);
    expect(cut.now()).toEqual(whole.now());
    expect(await everything(cut)).toEqual(await everything(whole));
  });

  test.each(RESOURCES)("lists exactly the true records of %s that are not hidden", async (resource) => {
    const world = createWorld({ ...small, hiddenShare: 0.2 });
    world.advance(5 * DAY);
    const byId = (a: { id: string }, b: { id: string }): number => Number(a.id) - Number(b.id);
    const listed = await walkList(world, resource, 37);
    expect(listed.sort(byId)).toEqual(trueRecords(world, resource).sort(byId));
  });

  test("hides projects from list and detail, yet versions, files and builds still name them", async () => {
    const world = createWorld({ ...small, hiddenShare: 0.3 });
    const hidden = [...world.truth().records("project")].filter(({ listed }) => !listed);
    expect(hidden.length).toBeGreaterThan(0);
    const versions = await walkList(world, "version");
    for (const { record } of hidden) {
      expect(await world.catalog().find("project", record.id)).toBeUndefined();
      expect(versions.some((version) => version.project.id === record.id)).toBe(true);
    }
  });

  test("holds what a mirror must survive", { tags: ["long"] }, async () => {
    const world = createWorld({ ...small, versions: 400, builds: 4000 });
    world.advance(20 * DAY);
    const builds = await walkList(world, "build", 1000);
    const projects = await walkList(world, "project");
    const versions = await walkList(world, "version");
    const users = await walkList(world, "user");
    const texts = JSON.stringify([projects, versions, users, builds]);
    expect(builds.some((build) => build.version === null)).toBe(true);
    expect(builds.some((build) => !build.date.includes("."))).toBe(true);
    expect(versions.filter((version) => version.verbose_name === "latest").length).toBeGreaterThan(30);
    expect(users.some((user) => user.last_login === null)).toBe(true);
    expect(texts).toContain("<script>");
    expect(texts).toMatch(/[\u4e00-\u9fff]/);
    expect(texts).toContain("\\u001b[");
    const types = new Set(builds.map((build) => build.type));
    expect(types).toEqual(new Set(["html", "pdf", "epub", "man", "dash"]));
  });
});

describe("the order of lists", () => {
  test("builds come newest first by date, though not always by id", async () => {
    const world = createWorld({ ...small, builds: 5000 });
    world.advance(5 * DAY);
    const builds = await walkList(world, "build");
    const moments = builds.map((build) => build.date.padEnd(26, build.date.includes(".") ? "0" : ".000000"));
    expect(moments).toEqual([...moments].sort().reverse());
    const ids = builds.map((build) => Number(build.id));
    expect(ids).not.toEqual([...ids].sort((a, b) => b - a));
  });

  test("projects come by slug, versions by verbose_name descending", async () => {
    const world = createWorld(small);
    world.advance(30 * DAY);
    const slugs = (await walkList(world, "project")).map((project) => project.slug);
    expect(slugs).toEqual([...slugs].sort());
    const names = (await walkList(world, "version")).map((version) => version.verbose_name);
    expect(names).toEqual([...names].sort().reverse());
  });

  const UNORDERED = ["user", "file", "version"] as const;
  test.each(
    UNORDERED,
  )("shuffled, %s rows come in another order for every request, each row once", async (resource) => {
    const world = createWorld({ ...small, ties: "shuffled" });
    const ask = async () => (await walkList(world, resource, 1000)).map((record) => record.id as string);
    const [first, second] = [await ask(), await ask()];
    expect(first).not.toEqual(second);
    expect([...first].sort()).toEqual([...second].sort());
    expect(new Set(first).size).toBe(first.length);
    expect(await world.catalog().revision?.(resource)).toBeUndefined();
  });
});

describe("what happens in a world", () => {
  test("records of all kinds come and go; deletions have their time", { tags: ["long"] }, async () => {
    const world = createWorld(small);
    const before = RESOURCES.map((r) => new Map(trueRecords(world, r).map((record) => [record.id, record])));
    const startMs = world.now().getTime();
    world.advance(300 * DAY);
    const deletions = world.truth().deletions();
    RESOURCES.forEach((resource, index) => {
      const after = new Map([...world.truth().records(resource)].map(({ record }) => [record.id, record]));
      const gone = deletions.filter((deletion) => deletion.resource === resource);
      expect(gone.length).toBeGreaterThan(0);
      expect([...after.keys()].some((id) => !before[index]?.has(id))).toBe(true);
      for (const { id } of gone) expect(after.has(id)).toBe(false);
      for (const id of before[index]?.keys() ?? []) {
        expect(after.has(id)).toBe(!gone.some((deletion) => deletion.id === id));
      }
    });
    const times = deletions.map((deletion) => deletion.atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(Math.min(...times)).toBeGreaterThan(startMs);
  });

  test("nothing points to a project or a version that was deleted", { tags: ["long"] }, async () => {
    const world = createWorld(small);
    world.advance(200 * DAY);
    const projects = new Set([...world.truth().records("project")].map(({ record }) => record.resource_uri));
    const versions = new Set(trueRecords(world, "version").map((version) => version.resource_uri));
    for (const build of trueRecords(world, "build")) {
      expect(projects).toContain(build.project);
      if (build.version !== null) expect(versions).toContain(build.version);
    }
    for (const file of trueRecords(world, "file")) expect(projects).toContain(file.project.resource_uri);
  });

  test("a change of a project moves its modified_date, one of its administrators does not", async () => {
    const changed = async (rates: WorldOptions["rates"]) => {
      const world = createWorld({ ...small, rates: { ...QUIET, ...rates } });
      const before = await walkList(world, "project");
      const revision = await world.catalog().revision?.("version");
      world.advance(DAY);
      expect(await world.catalog().revision?.("version")).not.toBe(revision);
      const after = await walkList(world, "project");
      return before
        .map((project, index) => [project, after[index] ?? project] as const)
        .filter(([a, b]) => JSON.stringify(a) !== JSON.stringify(b));
    };
    const edited = await changed({ projectChanges: 20 });
    expect(edited.length).toBeGreaterThan(0);
    for (const [before, after] of edited) expect(after.modified_date > before.modified_date).toBe(true);
    const handedOver = await changed({ administratorChanges: 200 });
    expect(handedOver.length).toBeGreaterThan(0);
    for (const [before, after] of handedOver) expect(after).toEqual({ ...before, users: after.users });
  });

  test("a quiet world changes nothing but open builds", async () => {
    const world = createWorld({ ...small, rates: QUIET });
    const settled = RESOURCES.filter((resource) => resource !== "build");
    const listOf = async (of: Resource) => [await walkList(world, of), await world.catalog().revision?.(of)];
    const before = await Promise.all(settled.map(listOf));
    const buildRevision = await world.catalog().revision?.("build");
    world.advance(10 * DAY);
    expect(await world.catalog().revision?.("build")).not.toBe(buildRevision);
    expect(await Promise.all(settled.map(listOf))).toEqual(before);
    expect((await walkList(world, "build")).length).toBe(small.builds);
  });

  test("a deleted project takes its versions, files and builds with it", async () => {
    const world = createWorld({ ...small, rates: QUIET });
    const project = (await walkList(world, "build"))[0]?.project ?? "";
    const id = /(\d+)\/$/.exec(project)?.[1] ?? "";
    expect(world.deleteRecord("project", id)).toBe(true);
    expect(world.deleteRecord("project", id)).toBe(false);
    expect((await walkList(world, "build")).some((build) => build.project === project)).toBe(false);
    const embedding = [...(await walkList(world, "version")), ...(await walkList(world, "file"))];
    expect(embedding.some((record) => record.project.id === id)).toBe(false);
    const deletions = world.truth().deletions();
    expect(deletions.map(({ resource }) => resource)).toContain("build");
  });

  test("some administrators were never to be found", async () => {
    const world = createWorld();
    const users = new Set((await walkList(world, "user")).map((user) => user.resource_uri));
    const named = (await walkList(world, "project")).flatMap((project) => project.users);
    expect(named.some((uri) => !users.has(uri))).toBe(true);
    expect(named.filter((uri) => users.has(uri)).length).toBeGreaterThan(named.length * 0.9);
  });

  test.each([
    ["ahead", 3_607_000],
    ["behind", -3_607_000],
  ])("a clock that is %s dates all builds by itself, and nothing else changes", async (_, clockOffsetMs) => {
    const [right, wrong] = [createWorld(small), createWorld({ ...small, clockOffsetMs })];
    for (const world of [right, wrong]) {
      world.advance(2 * DAY);
      world.triggerBuilds(3);
    }
    const moment = ({ date }: { date: string }) => Date.parse(`${date}Z`);
    const shown = await walkList(wrong, "build");
    const expected = await walkList(right, "build");
    expect(shown.map(moment)).toEqual(expected.map((build) => moment(build) + clockOffsetMs));
    const undated = (build: { date: string }) => ({ ...build, date: "" });
    expect(shown.map(undated)).toEqual(expected.map(undated));
    expect([...wrong.truth().transitions()]).toEqual([...right.truth().transitions()]);
    expect(await walkList(wrong, "project")).toEqual(await walkList(right, "project"));
    expect(wrong.now()).toEqual(right.now());
  });

  test("dates are local in the zone asked for", async () => {
    const options = { ...small, rates: QUIET, clockSteps: false };
    const [utc, chicago] = [createWorld(options), createWorld({ ...options, timeZone: "America/Chicago" })];
    const [there] = utc.triggerBuilds(1);
    const [here] = chicago.triggerBuilds(1);
    expect((await utc.catalog().find("build", there ?? ""))?.date).toBe("2024-05-15T12:00:00.000001");
    expect((await chicago.catalog().find("build", here ?? ""))?.date).toBe("2024-05-15T07:00:00.000001");
  });
});

describe("filters of a world", () => {
  test.each([
    ["build", { path: ["state"], value: "finished" }],
    ["build", { path: ["type"], value: "pdf" }],
    ["version", { path: ["slug"], value: "latest" }],
    ["version", { path: ["active"], value: false }],
  ] as const)("the %s list by %o holds every fitting record, slice by slice", async (resource, filter) => {
    const world = createWorld(small);
    const all = (await walkList(world, resource)) as unknown as Record<string, unknown>[];
    const fitting = all.filter((record) => record[filter.path[0]] === filter.value);
    const found: unknown[] = [];
    for (let offset = 0; ; offset += 7) {
      const slice = await world.catalog().list(resource, { filters: [filter], offset, limit: 7 });
      expect(slice.totalCount).toBe(fitting.length);
      if (slice.records.length === 0) break;
      found.push(...slice.records);
    }
    expect(found).toEqual(fitting);
  });

  test("builds and versions are found by their project's id and slug", async () => {
    const world = createWorld(small);
    const [version] = await walkList(world, "version");
    const { id = "", slug = "", resource_uri = "" } = version?.project ?? {};
    const versions = (await walkList(world, "version")).filter(({ project }) => project.id === id);
    const builds = (await walkList(world, "build")).filter(({ project }) => project === resource_uri);
    for (const filter of [
      { path: ["project"], value: id } as const,
      { path: ["project", "slug"], value: slug } as const,
    ]) {
      const query = { filters: [filter], offset: 0, limit: 1000 };
      expect((await world.catalog().list("version", query)).records).toEqual(versions);
      expect((await world.catalog().list("build", query)).records).toEqual(builds);
    }
  });
});

test("a world of a million builds keeps under 300 MB, and its deepest page is near", {
  tags: ["long"],
}, async () => {
  const used = (): number => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = used();
  const world = createWorld({ builds: 1_000_000 });
  expect(used() - before).toBeLessThan(300 * 2 ** 20);
  const { records } = await world.catalog().list("build", { filters: [], offset: 999_950, limit: 100 });
  expect(records).toHaveLength(50);
});

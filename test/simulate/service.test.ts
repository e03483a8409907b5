import { afterEach, describe, expect, test } from "vitest";
import { QUIET, type WorldOptions } from "../../src/simulate/settings.ts";
import {
  createWorld,
  type Simulation,
  type SimulationOptions,
  startSimulation,
} from "../support/simulation.ts";
import { createTally } from "../support/tally.ts";

const size = { users: 30, projects: 20, versions: 60, files: 50, builds: 150, rates: QUIET };
const running: Simulation[] = [];

async function start(options: Partial<SimulationOptions> = {}): Promise<Simulation> {
  const simulation = await startSimulation({ world: createWorld(size), ...options });
  running.push(simulation);
  return simulation;
}

afterEach(async () => {
  for (const simulation of running.splice(0)) await simulation.close();
});

interface Page {
  meta: { limit: number; next: string | null; offset: number; previous: string | null; total_count: number };
  objects: { id: string }[];
}

const fetchPage = async (url: string) => (await (await fetch(url)).json()) as Page;

describe("the simulated service", () => {
  test("HEAD is refused and a missing slash redirected over the wire too", async () => {
    const { url } = await start();
    const head = await fetch(`${url}/api/v1/build/`, { method: "HEAD" });
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET"]);
    const moved = await fetch(`${url}/api/v1/build?limit=1`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([301, "/api/v1/build/?limit=1"]);
    expect(moved.headers.get("date")).not.toBeNull();
  });

  test.each([
    ["tells the world's time", 0, "Wed, 15 May 2024 12:00:09 GMT"],
    ["is ahead when the service's clock is", 90_500, "Wed, 15 May 2024 12:01:40 GMT"],
    ["is behind when it is", -10_000, "Wed, 15 May 2024 11:59:59 GMT"],
  ])("the date of every reply %s", async (_, clockOffsetMs, date) => {
    const world = createWorld({ ...size, clockOffsetMs });
    const { url } = await start({
      world,
      intercept: (request, next) => (request.url.includes("/user/") ? new Response("busy") : next()),
    });
    world.advance(9999);
    for (const path of ["/api/v1/build/", "/api/v1/build/", "/api/v1/build", "/api/v1/user/", "/nosuch"]) {
      const { headers } = await fetch(url + path, { redirect: "manual" });
      expect([path, headers.get("date")]).toEqual([path, date]);
    }
  });

  test("ready replies do not outlive a change of the world", async () => {
    const world = createWorld(size);
    const { url } = await start({ world });
    const list = `${url}/api/v1/build/?limit=5`;
    const before = await fetchPage(list);
    expect(await fetchPage(list)).toEqual(before);
    const [id] = world.triggerBuilds(1);
    expect((await fetchPage(list)).objects[0]?.id).toBe(id);
    world.deleteRecord("build", id ?? "");
    expect((await fetchPage(list)).objects[0]?.id).toBe(before.objects[0]?.id);
  });

  test("an interceptor answers, changes replies, or hangs up", async () => {
    const { url } = await start({
      intercept: async (request, next) => {
        const { pathname } = new URL(request.url);
        if (pathname.includes("/user/")) return new Response("busy", { status: 503 });
        if (pathname.includes("/file/")) return "hang up";
        const reply = await next();
        return new Response(reply.body, { status: reply.status, headers: { "x-seen": "yes" } });
      },
    });
    expect((await fetch(`${url}/api/v1/user/`)).status).toBe(503);
    await expect(fetch(`${url}/api/v1/file/`)).rejects.toThrow();
    expect((await fetch(`${url}/api/v1/build/`)).headers.get("x-seen")).toBe("yes");
  });

  test("requests are counted by path and status, with their arrivals where asked for", async () => {
    const arrivals = createTally(() => simulation.requests().total);
    const simulation: Simulation = await start({
      recordArrivals: true,
      async intercept(_request, next) {
        arrivals.come();
        await arrivals.reached(3);
        return next();
      },
    });
    const paths = ["/api/v1/user/?limit=1", "/api/v1/user/?limit=2", "/api/v1/nosuch/"];
    await Promise.all(paths.map(async (path) => (await fetch(simulation.url + path)).arrayBuffer()));
    const { total, byPath, byStatus, peakInFlight, arrivalsMs } = simulation.requests();
    // A reader has its reply before the server knows that all was sent.
    await expect.poll(() => Object.fromEntries(byStatus)).toEqual({ 200: 2, 404: 1 });
    expect([total, peakInFlight, arrivalsMs.length]).toEqual([3, 3, 3]);
    expect(byPath.get("/api/v1/user/")).toBe(2);
    expect(simulation.requests().bytes).toBeGreaterThan(300);
    simulation.resetRequests();
    expect(simulation.requests().total).toBe(0);
  });

  test("with a speed the world moves on with the real clock", async () => {
    const world = createWorld({ ...size, rates: { ...QUIET, builds: 5000 } });
    const { url } = await start({ world, speed: 1_000_000 });
    const list = `${url}/api/v1/build/?limit=1`;
    const { meta } = await fetchPage(list);
    let later = meta;
    while (later.total_count === meta.total_count) later = (await fetchPage(list)).meta;
    expect(later.total_count).toBeGreaterThan(meta.total_count);
  });

  test("without a speed the world stands still", async () => {
    const world = createWorld(size);
    const { url } = await start({ world });
    await fetchPage(`${url}/api/v1/build/`);
    expect(world.now()).toEqual(world.settings.startAt);
  });

  test("closing twice does no harm and cuts a reply that is still waited for", async () => {
    const simulation = await start({ intercept: (_request, next) => new Promise(() => next()) });
    const failed = expect(fetch(`${simulation.url}/api/v1/user/`)).rejects.toThrow();
    while (simulation.requests().total === 0) await new Promise(setImmediate);
    await simulation.close();
    await simulation.close();
    await failed;
    await expect(fetch(simulation.url)).rejects.toThrow();
  });
});

async function serve(options: WorldOptions = {}) {
  const few = { users: 2, projects: 3, versions: 4, files: 40, builds: 2, rates: QUIET };
  const world = createWorld({ ...few, ...options });
  const { url } = await start({ world });
  const { records: files } = await world.catalog().list("file", { filters: [], offset: 0, limit: 100 });
  return { world, files, ask: (path: string, init?: RequestInit) => fetch(new URL(path, url), init) };
}

describe("the pages of a world", () => {
  test("answer 304 to the validators, no body to HEAD, and 404 elsewhere", async () => {
    const { files, ask } = await serve();
    const path = files[0]?.absolute_url ?? "";
    const { headers } = await ask(path);
    const etag = headers.get("etag") ?? "";
    const since = headers.get("last-modified") ?? "";
    const statusFor = async (sent: Record<string, string>) => (await ask(path, { headers: sent })).status;
    expect(await statusFor({ "if-none-match": etag })).toBe(304);
    expect(await statusFor({ "if-none-match": `"x", W/${etag}` })).toBe(304);
    expect(await statusFor({ "if-none-match": '"x"', "if-modified-since": since })).toBe(200);
    expect(await statusFor({ "if-modified-since": since })).toBe(304);
    expect(await statusFor({ "if-modified-since": "Mon, 01 Jan 2001 00:00:00 GMT" })).toBe(200);
    expect(await (await ask(path, { method: "HEAD" })).text()).toBe("");
    expect((await ask("/docs/nosuch/en/latest/index.html")).status).toBe(404);
  });

  test("change with their validators", async () => {
    const { world, files, ask } = await serve();
    const [file] = files;
    const path = file?.absolute_url ?? "";
    const before = await ask(path);
    world.advance(5000);
    expect(world.editPage(file?.id ?? "")).toBe(true);
    expect(world.editPage("nosuch")).toBe(false);
    const after = await ask(path);
    for (const name of ["etag", "last-modified"])
      expect(after.headers.get(name)).not.toBe(before.headers.get(name));
    expect(await after.text()).not.toBe(await before.text());
  });

  test("go with their file, stand below the base path too, and may be missing", async () => {
    const { world, files, ask } = await serve({ basePath: "/mirror", missingPageShare: 0.5 });
    const statuses = await Promise.all(
      files.map(async ({ absolute_url }) => (await ask(`/mirror${absolute_url}`)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200, 404]));
    const there = files[statuses.indexOf(200)];
    for (const { id, absolute_url } of files) {
      if (absolute_url === there?.absolute_url) world.deleteRecord("file", id);
    }
    expect((await ask(there?.absolute_url ?? "")).status).toBe(404);
  });
});

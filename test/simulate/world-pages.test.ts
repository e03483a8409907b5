import { afterEach, describe, expect, it } from "vitest";
import { readPage } from "../../src/mirror/content/read-page.ts";
import { startSimulation } from "../../src/simulate/service.ts";
import { QUIET, type WorldOptions } from "../../src/simulate/settings.ts";
import { createWorld } from "../../src/simulate/world.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function serve(options: WorldOptions = {}) {
  const world = createWorld({
    users: 2,
    projects: 3,
    versions: 4,
    files: 40,
    builds: 2,
    rates: QUIET,
    ...options,
  });
  const simulation = await startSimulation({ world });
  open.push(simulation);
  const { records } = await world.catalog().list("file", { filters: [], offset: 0, limit: 100 });
  const ask = (path: string, init?: RequestInit) => fetch(new URL(path, simulation.url), init);
  return { world, files: records, ask, simulation };
}

describe("the pages of a world", () => {
  it("stand at the addresses of the files, and hold what the service's searches find", async () => {
    const { world, files, ask } = await serve();
    for (const file of files) {
      const reply = await ask(file.absolute_url);
      expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
      const { title, text, anchors } = readPage(await reply.text());
      const heading = file.name.replace(".html", "");
      expect({ title, anchors }).toEqual({ title: file.name, anchors: [{ id: heading, text: heading }] });
      const hits = await world.catalog().searchFiles({ q: text, page: 1 });
      expect(hits.map(({ id }) => id)).toContain(file.id);
    }
  });

  it("answer 304 to the validators, no body to HEAD, and 404 elsewhere", async () => {
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

  it("change with their validators", async () => {
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

  it("go with their file, stand below the base path too, and may be missing", async () => {
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

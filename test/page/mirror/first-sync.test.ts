import { afterEach, describe, expect, it } from "vitest";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { HELD } from "../../support/leases.ts";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, expectHarmless, headingOf, rowsOf, textOf } from "../../support/page-text.ts";
import { refreshPages, seedPages } from "../../support/served-pages.ts";

const pages = usePages();
afterEach(() =>
  run(
    "truncate sync.leases, sync.runs, sync.walks, mirror.projects restart identity cascade; delete from rollup.state",
  ),
);

const run = (text: string) => pages.sql.unsafe(text);

/** A sync that began 100 s ago, or as long ago as is said, with a page of each list a second ago. */
const beginSync = (walks: string, status = "running", ago = "100 s") =>
  run(`${HELD("run")}
  insert into sync.runs (term, kind, status, started_at, finished_at, heartbeat_at, pid, host, error)
    select 1, 'full', '${status}', now() - interval '${ago}', case '${status}' when 'running' then null else now() end, now(), 1, 'test',
      case '${status}' when 'failed' then 'no answer' end;
  insert into sync.walks (run_id, began_run_id, resource, walk, started_at, finished_at, checkpoint_at, checkpoint, records, total_count)
  select 1, 1, resource, walk, now() - interval '${ago}', case when walk is not null then now() - interval '${ago}' + interval '2 s' end,
    case when walk is null then now() - interval '1 s' end, case when walk is null then '{}'::jsonb end, records, total_count
  from (values ${walks}) as of (resource, walk, records, total_count)`);

const HALF = `('user', 'whole', 400, 400), ('project', 'whole', 600, 600), ('version', null, 2000, 3000),
  ('build', null, 7000, 17000), ('file', null, 0, 1000)`;

describe("while the first sync runs, the page", () => {
  it("says how many lists are read, how much of all records, and how long it takes", async () => {
    await beginSync(HALF);
    await run("delete from sync.walks where resource = 'file'");
    const page = await pages.page("/");
    // 10,000 builds at 7,000 in 99 s.
    expect(headingOf(page)).toBe("First sync: 2 of 4 lists are read, 47 % of all records; about 3 min left.");
    expect(page).toContain("<title>47 % of the first sync · docmirror</title>");
    expect(textOf(page)).toMatch(/10,000 of 21,000 records, some 10\d a second/);
    expect(textOf(blockOf(page, "progress"))).toMatch(
      /Users +400 of 400 read in 2 s.*Versions +2,000 of 3,000 about 50 s left.*Builds +7,000 of 17,000 about 3 min left/s,
    );
    expectHarmless(page, "first sync");
  });

  it("promises no time and no share where a list has not been counted yet", async () => {
    await beginSync("('user', 'whole', 400, 400), ('build', null, 0, null)");
    const page = await pages.page("/");
    expect(headingOf(page)).toBe("First sync: 1 of 2 lists is read, 400 records so far.");
    expect(page).toContain("<title>The first sync is under way · docmirror</title>");
    expect(textOf(blockOf(page, "progress"))).toMatch(/Builds +0 waits for its first page/);
  });

  it("promises no time for a list that goes on with a walk that broke off", async () => {
    await beginSync(HALF);
    await run("update sync.walks set began_run_id = 0 where resource = 'build'");
    expect(headingOf(await pages.page("/"))).toMatch(/of all records\.$/);
  });

  it("is another one as soon as there are more records, also within the minute", async () => {
    await beginSync(HALF);
    const before = await pages.page("/");
    await run("update sync.walks set records = 16000 where resource = 'build'");
    expect(headingOf(await pages.page("/"))).not.toBe(headingOf(before));
  });

  it("renews itself by a header, which a link stops, at its own address", { tags: ["long"] }, async () => {
    await beginSync(HALF);
    for (const path of ["/", "/trends", "/mirror", "/project/pip"]) {
      const reply = await pages.get(path);
      expect(reply.headers.get("refresh"), path).toBe("15");
      expect(await reply.text()).toContain(`<a href="${path}?renew=no">Stop that</a>`);
      const stopped = await pages.get(`${path}?renew=no`);
      expect(stopped.headers.get("refresh"), path).toBeNull();
      expect(await stopped.text()).toContain(`<a href="${path}">Renew every 15`);
    }
    const { headers } = await pages.get("/");
    const again = await pages.get("/", { headers: { "if-none-match": headers.get("etag") ?? "" } });
    expect(again.headers.get("refresh")).toBe("15");
  });

  it("is shown as that of its address, and counts nothing of what is being read", {
    tags: ["long"],
  }, async () => {
    // As a program does that is started while the sync runs.
    await refreshPages(pages.databaseUrl);
    await beginSync(HALF);
    for (const path of ["/", "/trends", "/projects", "/errors", "/mirror"])
      expect(await pages.page(path), path).toMatch(new RegExp(`<a href="${path}" aria-current="page">`));
    expect(await pages.page("/project/pip")).toContain('<a href="/projects" aria-current="page">');
    const mirror = await pages.page("/mirror");
    for (const cells of rowsOf(mirror, "lists")) expect(cells.slice(3, 5)).toEqual(["–", "–"]);
    expect(rowsOf(mirror, "lists")).toHaveLength(RESOURCES.length);
    const ids = mirror.match(/ id="[^"]*"/g);
    expect(ids).toEqual([...new Set(ids)]);
    const looks = blockOf(mirror, "looks");
    expect(looks).toMatch(/In the 24 hours up to .*: 1 sync, 1 of them under way, and 0 rounds/);
    expect(looks).not.toContain("sync that succeeded");
    // It has not counted its requests yet.
    expect(rowsOf(mirror, "runs")[0]?.slice(1, 4)).toEqual(["runningrunning", expect.anything(), "–"]);
    expect(textOf(looks)).toContain("sync under way");
  });

  it("goes on to say so when the builds are read and the run is not over, also where `docmirror migrate` came first", async () => {
    await refreshPages(pages.databaseUrl);
    await beginSync(HALF.replace("('build', null, 7000, 17000)", "('build', 'whole', 17000, 17000)"));
    for (const path of ["/", "/trends", "/projects", "/mirror"]) {
      const reply = await pages.get(path);
      expect(headingOf(await reply.text()), path).toMatch(/^First sync: 3 of 5 lists are read/);
      expect(reply.headers.get("refresh"), path).toBe("15");
    }
    const before = await pages.page("/");
    await run("update sync.walks set records = 900 where resource = 'file'");
    expect(headingOf(await pages.page("/"))).not.toBe(headingOf(before));
  });

  it("lists the projects by name as soon as their list is read", async () => {
    await run(`insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
      values ('1', 'pip', '<b>Pip</b>', 'list', true, now(), now(), ''), ('2', 'tox', 'tox', 'list', true, now(), now(), '')`);
    await beginSync(HALF.replace("('project', 'whole', 600, 600)", "('project', null, 2, 600)"));
    expect(await pages.page("/")).not.toContain("Projects</a> has the names");
    expect(await pages.page("/projects")).not.toContain('id="names"');
    await run("update sync.walks set walk = 'whole', finished_at = now() where resource = 'project'");
    const page = await pages.page("/projects");
    expect(textOf(blockOf(page, "names"))).toMatch(/2 names\. .*pip<b>Pip<\/b>\s+tox\s*$/s);
    expect(page).toContain('<a href="/projects">Projects</a> has the names of all projects already.');
    expect(await pages.page("/")).not.toContain('id="names"');
    expectHarmless(page, "first names");
  });

  it("says so when no page has come for two minutes, with the command", async () => {
    await beginSync(HALF, "running", "10 min");
    await run("update sync.walks set checkpoint_at = checkpoint_at - interval '3 min'");
    const page = await pages.page("/");
    expect(headingOf(page)).toMatch(/^First sync: nothing has come for 3.min; 2 of 5 lists are read/);
    expect(textOf(page)).toContain("docmirror sync goes on where it stopped");
    expect(page).toContain('class="verdict warn"');
  });
});

describe("before the builds are read, the page", () => {
  it("says which lists are missing where a sync was told to read two of them, and both commands", async () => {
    await beginSync("('user', 'whole', 4, 4), ('project', 'whole', 6, 6)", "succeeded");
    await run(`insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
      values ('1', 'pip', 'Pip', 'list', true, now(), now(), '')`);
    await refreshPages(pages.databaseUrl);
    const reply = await pages.get("/");
    expect(reply.headers.get("refresh")).toBeNull();
    const page = await reply.text();
    expect(headingOf(page)).toBe("This mirror holds users and projects, but not builds.");
    expect(textOf(page)).toContain(`No builds 2 of ${RESOURCES.length} lists`);
    expect(textOf(page)).toContain("by name. Mirror shows");
    expect(textOf(blockOf(page, "add"))).toContain("docmirror sync --resource version,file,build");
    expect(textOf(blockOf(page, "add"))).toMatch(/docmirror sync --resource version,build\s*$/);
    const projects = await pages.page("/projects");
    expect(headingOf(projects)).toBe("Projects");
    expect(textOf(projects)).toContain(`No builds 2 of ${RESOURCES.length} lists`);
    expect(textOf(projects)).toContain(
      "1 name; how each stands is not known, because this mirror holds no bu",
    );
    expect(textOf(projects)).not.toMatch(/never synced|are good/);
    expect(textOf(await pages.page("/dictionary"))).toContain(`No builds 2 of ${RESOURCES.length} lists`);
  });

  it("says that a first sync ended early, why, and how to go on", async () => {
    await beginSync(HALF, "failed");
    const page = await pages.page("/");
    expect(headingOf(page)).toBe("The first sync ended before the list of builds was whole.");
    const words = /Run 1 ended at .*, failed: no answer\. It had read 10,000 records/;
    expect(textOf(blockOf(page, "state"))).toMatch(words);
    expect(textOf(blockOf(await pages.page("/mirror"), "runs"))).toContain("failed no answer");
    expect(page).toContain('class="verdict warn"');
  });

  it("says so of one whose process was killed, though its run is still open", async () => {
    await beginSync(HALF);
    await run("update sync.leases set until = '-infinity'");
    const page = await pages.page("/");
    expect(headingOf(page)).toBe("The first sync ended before the list of builds was whole.");
    expect(textOf(blockOf(page, "state"))).toMatch(/Run 1 ended at .*, interrupted: the process ended/);
    expect(textOf(blockOf(await pages.page("/mirror"), "looks"))).not.toContain("under way");
  });

  it("does not say that none was built where the figures are not computed yet", async () => {
    await using served = await openMirrorPages(seedPages);
    await served.sql`delete from rollup.state`;
    const page = await served.get("/");
    expect(headingOf(await page.text())).toBe("The lists are read, but the figures have not been computed.");
    expect(page.headers.get("refresh")).toBeNull();
    await served.sql`update sync.runs set finished_at = now() where kind = 'full'`;
    expect((await served.get("/trends")).headers.get("refresh")).toBe("15");
  });

  it("says above older figures that computing them failed, and not that they come soon", async () => {
    await using served = await openMirrorPages(seedPages);
    await served.sql`insert into rollup.failed_refresh (failed_at, error) values (now(), 'damaged')`;
    const text = textOf(await (await served.get("/")).text());
    expect(text).toMatch(
      /The figures were computed at .*: the next try failed at .*; docmirror doctor says why\./,
    );
    expect(text).not.toContain("soon");
  });

  it("says that the figures could not be computed, and renews itself for nothing", async () => {
    await using served = await openMirrorPages(seedPages);
    await served.sql`delete from rollup.state`;
    await served.sql`update sync.runs set finished_at = now() where kind = 'full'`;
    await served.sql`insert into rollup.failed_refresh (failed_at, error) values (now(), 'damaged')`;
    const page = await served.get("/");
    const text = await page.text();
    expect(headingOf(text)).toBe("The lists are read, but the figures could not be computed.");
    expect(textOf(text)).toMatch(/The last try failed at .*; docmirror doctor says why\./);
    expect(page.headers.get("refresh")).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { offeredRows } from "../../support/block-offers.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, rowsOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { HOSTILE_SLUGS, seedPages } from "../../support/served-pages.ts";

const HOSTILE = Object.keys(HOSTILE_SLUGS).length;
const QUIET = 30;

/**
 * The projects of the list beside pip, which is good, and the hostile ones: one that fails in part, one whose main docs fail, one that is good, one
 * that shares its slug with a deleted one, and thirty that were never built.
 */
const ROWS = `
  insert into mirror.projects (id, slug, name, source, listed, default_version, first_seen_at, changed_at, deleted_at, record_hash)
  values
    ('105', 'alpha_beta', 'Ferry%core', 'list', true, 'stable', now(), now(), null, ''),
    ('106', 'alphaxbeta', 'Other', 'list', true, '', now(), now(), null, ''),
    ('107', 'gamma', 'Gamma', 'list', true, 'latest', now(), now(), null, ''),
    ('108', 'twin', 'First twin', 'list', true, 'latest', now(), now(), null, ''),
    ('109', 'twin', 'Second twin', 'list', true, 'latest', now(), now(), null, ''),
    ('110', 'departed', 'Departed', 'list', true, 'latest', now(), now(), now(), '');
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select (200 + n)::text, 'quiet-' || n, 'Quiet ' || n, 'list', true, now(), now(), '' from generate_series(1, ${QUIET}) as n;
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select project || slug, slug, project::text, now(), now(), ''
  from generate_series(105, 110) as project, unnest(array['latest', 'stable']) as slug;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select id, date_trunc('second', now() at time zone 'utc') - ago::interval, 'finished', success, type, left(version_id, 3), version_id, now(), now(), ''
  from (values
    ('5001', '3 days', true, 'html', '105stable'), ('5002', '1570 minutes', false, 'pdf', '105latest'),
    ('5003', '5 days', true, 'epub', '105latest'), ('5004', '2410 minutes', false, 'epub', '105latest'),
    ('6001', '4 days', true, 'html', '106latest'), ('6002', '190 minutes', false, 'html', '106latest'), ('6003', '50 hours', false, 'epub', '106stable'),
    ('7001', '1250 seconds', true, 'html', '107latest'),
    ('8001', '6 days', true, 'html', '108latest'), ('9001', '7 days', true, 'html', '109latest'),
    ('110001', '10 minutes', false, 'html', '110latest')
  ) as of (id, ago, success, type, version_id);
`;

const pages = usePages((url) => seedPages(url, ROWS));

const namesOf = (page: string): string[] =>
  [...blockOf(page, "projects").matchAll(/<th role="rowheader"[^>]*><a[^>]*>(.*?)<\/a>/gs)].map(
    ([, name = ""]) => textOf(name),
  );
const rowOf = (page: string, slug: string): string =>
  rowsOf(page, "projects")
    .map((cells) => cells.join(" | "))
    .find((row) => row.startsWith(slug)) ?? "";

const target = async (q: string) =>
  (await pages.get(`/find?q=${encodeURIComponent(q)}`)).headers.get("location");

describe("the list of projects", () => {
  it("says how each stands, and keeps good, failing in part and not known apart", async () => {
    const page = await pages.page("/projects?q=a");
    expect(rowOf(page, "alphaxbeta")).toMatch(/failingMain docs fail 3 h, 1 more/);
    // As old as its epub, which worked before; its pdf never did.
    expect(rowOf(page, "alpha_beta")).toMatch(/failing in part2 formats fail 40 h, newest 26 h/);
    expect(rowOf(page, HOSTILE_SLUGS.script)).toMatch(
      /failing in part.* · <b>html<\/b> fails (?:4[78] h|2 d)/,
    );
    const strip =
      /succeededGood \| .*the only build of gamma: succeeded.* \| 100 %1 of 1 \| .* \| (?:19|20) min/;
    expect(rowOf(page, "gamma")).toMatch(strip);
    const quiet = rowOf(await pages.page("/projects?q=quiet-7"), "quiet-7");
    expect(quiet).toMatch(/Not known no finished build \| no builds of quiet-7.*none finished.* \| –/s);
    expect(quiet).toMatch(
      /none finished\s*90 days of the main docs of quiet-7: no builds on 4[01], not known on \d+/,
    );
    const pip = rowOf(await pages.page("/projects?q=pip"), "pip");
    expect(pip).toMatch(/Good 1 stuck \| the last 30 of pip: 22 succeeded, 7 failed, 1 not finished/);
    expect(pip).toMatch(/75 %30 of 40/);
    expect(pip).toMatch(/75 % of 40\s*90 days of the main docs of pip: .*failures on 10, /);
  });

  it("says how many are good, and counts each state; a deleted project is in none", async () => {
    const page = await pages.page("/projects");
    const all = 1 + 5 + HOSTILE + QUIET;
    expect(mainOf(page)).toContain(`4 of ${all} projects are good`);
    expect(textOf(blockOf(page, "projects"))).toContain(
      `All ${all}Main docs fail 1Other versions or formats fail ${1 + HOSTILE}Good 4Not known ${QUIET}Stuck builds 1`,
    );
    expect(await pages.page("/projects?q=departed")).toContain("No project matches.");
  });

  it("is sorted as the reader says, and says by what", async () => {
    const sorted = async (query: string) => {
      const page = await pages.page(`/projects?${query}`);
      const [, head = ""] = /aria-sort="(\w+)"><a[^>]*>\w[^<]*/.exec(blockOf(page, "projects")) ?? [];
      return { names: namesOf(page), head };
    };
    expect((await sorted("state=good")).names).toEqual(["gamma", "pip", "twin", "twin"]);
    expect((await sorted("state=good")).head).toBe("descending");
    expect((await sorted("sort=name&q=alpha")).names).toEqual(["alpha_beta", "alphaxbeta"]);
    expect((await sorted("sort=name")).head).toBe("ascending");
    expect((await sorted("sort=state&q=a")).names.slice(0, 2)).toEqual(["alphaxbeta", "alpha_beta"]);
    expect((await sorted("sort=rate&q=alpha")).names).toEqual(["alphaxbeta", "alpha_beta"]);
    expect((await sorted("sort=nosuch&state=good")).names[0]).toBe("gamma");
  });

  it("has pages, which keep the search, the state and the order, and so do all its links", async () => {
    const query = "q=quiet&state=unknown&sort=name";
    const first = await pages.page(`/projects?${query}`);
    const second = await pages.page(`/projects?${query}&page=2`);
    const names = Array.from({ length: QUIET }, (_, place) => `quiet-${place + 1}`);
    expect([...namesOf(first), ...namesOf(second)].toSorted()).toEqual(names.toSorted());
    expect(textOf(blockOf(second, "projects"))).toContain("26–30 of 30 projects");
    const links = [...blockOf(first, "projects").matchAll(/href="(\/projects[^"]*)"/g)].map(
      ([, href = ""]) => new URL(href.replaceAll("&amp;", "&"), "http://page").searchParams,
    );
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) expect(link.get("q"), link.toString()).toBe("quiet");
    expect(links.filter((link) => link.get("state") === "unknown").length).toBeGreaterThan(5);
    expect(blockOf(first, "projects")).toContain('<input type="hidden" name="state" value="unknown">');
    expect(blockOf(first, "projects")).toContain('<input type="hidden" name="sort" value="name">');
  });

  it("finds parts of a slug or a name in any case; no character has a meaning of its own", async () => {
    const found = async (q: string) => {
      const page = await pages.page(`/projects?sort=name&q=${encodeURIComponent(q)}`);
      return page.includes("No project matches.") ? [] : namesOf(page);
    };
    expect(await found("A_B")).toEqual(["alpha_beta"]);
    expect(await found("ferry%C")).toEqual(["alpha_beta"]);
    expect(await found("alpha%beta")).toEqual([]);
    expect(await found("INSTALLER")).toEqual(["pip"]);
    expect(await found("\\")).toEqual([]);
  });

  it("takes the address of a project's documentation, and that of another host for what it is", async () => {
    expect(await target("https://pip.docs.example.org/en/latest/")).toBe("/project/pip");
    const nosuch = "https://nosuch.docs.example.org/";
    expect(await target(nosuch)).toBe(`/project/${encodeURIComponent(nosuch)}`);
  });

  it("takes a build as it is pasted: with #, or as an address", async () => {
    const pasted = "https://docs.example.org/api/v1/build/6002/";
    expect(await pages.page(`/projects?q=${encodeURIComponent(pasted)}`)).toContain('<a href="/build/6002">');
    expect(await target(pasted)).toBe("/build/6002");
  });

  it("leads to the build whose number is searched for", async () => {
    const page = await pages.page("/projects?q=6002");
    expect(blockOf(page, "projects")).toContain("No project matches.");
    expect(page).toMatch(/<a href="\/build\/6002">Build <bdi>6002<\/bdi><\/a>/);
    expect(mainOf(page)).toMatch(/failed, Other error · latest · html of alphaxbeta · 3 h ago/);
    expect(await pages.page("/projects?q=60029")).not.toContain('id="build"');
  });

  it("keeps two projects of one slug apart", async () => {
    const page = await pages.page("/projects?q=twin");
    expect(blockOf(page, "projects")).toContain('href="/project/twin?id=108"');
    expect(blockOf(page, "projects")).toContain('href="/project/twin?id=109"');
    expect(rowOf(page, "twin")).toMatch(/First twin, id 108/);
  });
});

describe("a choice that leaves nothing", () => {
  it("has the words of the golden file, and so has the whole list", async () => {
    const queries = ["q=alpha", "state=good", "q=gama&state=main", "state=godo&q=gamma", "q=quiet&page=9"];
    const paths = ["/projects", ...queries.map((query) => `/projects?${query}`)];
    await expectGolden(pages, "projects.golden.txt", paths);
  });

  it("names what is alike, says how much was looked at, and never calls it good", async () => {
    const page = await pages.page("/projects?q=gama&state=main");
    const text = textOf(blockOf(page, "projects"));
    expect(namesOf(page)).toEqual(["gamma"]);
    expect(text).toContain("All 1 with failing main docs");
    expect(text).not.toMatch(/none found|nothing fails/i);
  });
});

describe("the page of projects", () => {
  it("offers its rows as files, and SQL that runs as it is shown", async () => {
    const page = await pages.page("/projects?q=it's%5C&state=part&sort=rate");
    expect(await offeredRows(pages, page)).toEqual({ projects: [] });
    const good = await offeredRows(pages, await pages.page("/projects?state=good"));
    expect(good.projects).toHaveLength(4);
  });
});

import { describe, expect, it } from "vitest";
import { offeredRows } from "../../support/block-offers.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
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

const target = async (q: string) =>
  (await pages.get(`/find?q=${encodeURIComponent(q)}`)).headers.get("location");

const PASTED = "https://docs.example.org/api/v1/build/6002/";
const SEARCHES = [
  ...["q=a", "q=quiet-7", "q=pip", "state=good", "q=departed", "q=twin", "q=6002", "q=60029"],
  ...[`q=${encodeURIComponent(PASTED)}`, "q=gama&state=main", "state=godo&q=gamma", "q=quiet&page=9"],
];

describe("the page of projects", () => {
  it("has the words of its golden file: how each stands, and what a search or a state leaves", async () => {
    const paths = ["/projects", ...SEARCHES.map((query) => `/projects?${query}`)];
    await expectGolden("projects.golden.txt", [{ of: "projects of every state", pages, paths }]);
    expect(mainOf(await pages.page("/projects"))).toContain(`4 of ${1 + 5 + HOSTILE + QUIET} projects`);
  });

  it.each([
    ["state=good", ["gamma", "pip", "twin", "twin"], "descending"],
    ["sort=name&q=alpha", ["alpha_beta", "alphaxbeta"], "ascending"],
    ["sort=state&q=alph", ["alphaxbeta", "alpha_beta"], "ascending"],
    ["sort=rate&q=alpha", ["alphaxbeta", "alpha_beta"], "ascending"],
    ["sort=nosuch&q=gamma", ["gamma"], "descending"],
    // A search finds parts of a slug or a name in any case; no character has a meaning of its own.
    ["sort=name&q=A_B", ["alpha_beta"], "ascending"],
    ["sort=name&q=ferry%25C", ["alpha_beta"], "ascending"],
    ["sort=name&q=INSTALLER", ["pip"], "ascending"],
  ])("?%s has %j", async (query, names, order) => {
    const page = await pages.page(`/projects?${query}`);
    expect(namesOf(page)).toEqual(names);
    expect(/aria-sort="(\w+)"/.exec(blockOf(page, "projects"))?.[1]).toBe(order);
  });

  it.each(["alpha%beta", "\\"])("finds nothing by %s", async (q) => {
    expect(await pages.page(`/projects?q=${encodeURIComponent(q)}`)).toContain("No project matches.");
  });

  it("has pages, which keep the search, the state and the order, and so do all its links", async () => {
    const query = "q=quiet&state=unknown&sort=name";
    const first = await pages.page(`/projects?${query}`);
    const second = await pages.page(`/projects?${query}&page=2`);
    const names = Array.from({ length: QUIET }, (_, place) => `quiet-${place + 1}`);
    expect([...namesOf(first), ...namesOf(second)].toSorted()).toEqual(names.toSorted());
    const links = [...blockOf(first, "projects").matchAll(/href="(\/projects[^"]*)"/g)].map(
      ([, href = ""]) => new URL(href.replaceAll("&amp;", "&"), "http://page").searchParams,
    );
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) expect(link.get("q"), link.toString()).toBe("quiet");
    expect(links.filter((link) => link.get("state") === "unknown").length).toBeGreaterThan(5);
    expect(blockOf(first, "projects")).toContain('<input type="hidden" name="state" value="unknown">');
    expect(blockOf(first, "projects")).toContain('<input type="hidden" name="sort" value="name">');
  });

  it.each([
    ["https://pip.docs.example.org/en/latest/", "/project/pip"],
    ["https://nosuch.docs.example.org/", "/project/https%3A%2F%2Fnosuch.docs.example.org%2F"],
    [PASTED, "/build/6002"],
  ])("is found for what is pasted: %s leads to %s", async (pasted, href) => {
    expect(await target(pasted)).toBe(href);
  });

  it("offers its rows as files, and SQL that runs as it is shown", async () => {
    const page = await pages.page("/projects?q=it's%5C&state=part&sort=rate");
    expect(await offeredRows(pages, page)).toEqual({ projects: [] });
    const good = await offeredRows(pages, await pages.page("/projects?state=good"));
    expect(good.projects).toHaveLength(4);
  });
});

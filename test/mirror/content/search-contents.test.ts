import { beforeAll, describe, expect, it } from "vitest";
import { findAnchors, findDocs, findFiles } from "../../../src/mirror/content/search-contents.ts";
import { type AskedPage, type PageOutcome, storeContents } from "../../../src/mirror/content/stored-pages.ts";
import type { Anchor } from "../../../src/store/schema/file-contents.ts";
import { useDatabase } from "../../support/use-database.ts";

const { sql } = useDatabase();

interface Page {
  id: string;
  title?: string;
  text?: string;
  anchors?: Anchor[];
  project?: string;
  version?: string;
}

/** A file with its page, in project `kit` unless told otherwise. */
async function put({ id, project = "kit", version = "latest", ...page }: Page): Promise<void> {
  const path = `guide/p${id}.html`;
  const absoluteUrl = `/docs/${project}/en/${version}/${path}`;
  await sql`
    insert into mirror.projects (id, slug, subdomain, source, listed, first_seen_at, changed_at, record_hash)
    values (${project}, ${project}, ${`http://${project}.docs.example.org/`}, 'list', true, now(), now(), '')
    on conflict do nothing`;
  await sql`
    insert into mirror.files (id, absolute_url, name, path, project_id, first_seen_at, changed_at, record_hash)
    values (${id}, ${absoluteUrl}, ${`p${id}.html`}, ${path}, ${project}, now(), now(), '') on conflict do nothing`;
  const where = { fileId: id, projectId: project, version, absoluteUrl };
  await storeContents({ sql, runId: 1, docsUrl: "http://localhost" }, [askedPage(where, page)]);
}

type Where = Pick<AskedPage, "fileId" | "projectId" | "version" | "absoluteUrl">;

function askedPage(
  where: Where,
  page: Partial<Extract<PageOutcome, { kind: "page" }>["content"]>,
): AskedPage {
  const [askedAt, receivedAt] = ["2024-05-15T12:00:00Z", "2024-05-15T12:00:00Z"];
  const content = { title: "", text: "", anchors: [], ...page };
  const validators = { etag: null, lastModified: null };
  const outcome: PageOutcome = { kind: "page", status: 200, content, validators, receivedAt };
  return { ...where, url: `http://localhost${where.absoluteUrl}`, askedAt, outcome };
}

const idsOf = async (q: string, more = {}) =>
  (await findFiles(sql, { q, ...more })).hits.map(({ fileId }) => fileId);

beforeAll(async () => {
  await put({ id: "1", title: "Harbor", text: "Lights of the harbor and harbor walls." });
  await put({ id: "2", title: "Walls", text: "harbor harbor harbor harbor" });
  await put({ id: "3", title: "Harbor walls", text: "Nothing else." });
  await put({ id: "10", title: "Other", text: "a harbor", version: "v1.0" });
  await put({ id: "9", title: "Other", text: "a harbor", version: "v1.0" });
  await put({ id: "20", title: "<b>Evil</b>", text: `<script>evil("x")</script> & more` });
  await put({ id: "21", title: "Calls", text: "Use os.path.join() or py-modindex, v1.24.2_beta at 100%." });
  await put({ id: "22", title: "日本語", text: "これは日本語の本です Žluťoučký KŮŇ" });
  await put({ id: "30", title: "Only Here", text: "" });
  await put({ id: "40", title: "Lost", text: "harbor lost", project: "hidden" });
  await put({ id: "41", title: "Lost", text: "harbor lost", project: "gone" });
  await put({ id: "42", title: "Lost", text: "harbor lost" });
  await put({ id: "50", title: "Long", text: `${"filler ".repeat(5000)}needle at the end` });
  await put({
    id: "60",
    title: "Places",
    text: "x",
    anchors: [
      { id: "install", text: "Installing the harbor tool" },
      { id: "exact", text: "Harbor Tool" },
      { id: "a b<c>", text: "class foo.Bar(baz)" },
      { id: "tool", text: "Tool" },
    ],
  });
  const lost = [{ id: "lost", text: "lost" }];
  await put({ id: "61", title: "Places", text: "x", anchors: lost, project: "hidden" });
  for (let n = 100; n < 145; n++) await put({ id: String(n), title: `Many ${n}`, text: "paged words" });
  await put({ id: "145", title: "Paged words", text: "x", anchors: [] });
  for (let n = 200; n < 255; n++)
    await put({ id: String(n), text: "x", anchors: [{ id: "s", text: "repeated" }], version: "many" });
  await sql`update mirror.projects set listed = false where id = 'hidden'`;
  await sql`update mirror.projects set deleted_at = now() where id = 'gone'`;
  await sql`update mirror.files set deleted_at = now() where id = '42'`;
});

describe("findFiles", () => {
  it("puts the page first whose title is the query, then the best rank, then the lowest id as a number", async () => {
    expect(await idsOf("harbor")).toEqual(["1", "3", "2", "9", "10", "40"]);
    expect(await idsOf("HARBOR Walls")).toEqual(["3", "2", "1"]);
  });

  it("wants every word, as a whole word", async () => {
    expect(await idsOf("harbor lights")).toEqual(["1"]);
    expect(await idsOf("harbor lights nothing")).toEqual([]);
    expect(await idsOf("harbo")).toEqual([]);
  });

  it.each<[q: string, ids: string[]]>([
    ["path", ["21"]],
    ["os.path.join", ["21"]],
    ["modindex", ["21"]],
    ["v1.24", ["21"]],
    ["beta", ["21"]],
    ["100% at", ["21"]],
    ["日本", ["22"]],
    ["本です", ["22"]],
    ["kůň", ["22"]],
    ["ku\u030An\u030C", ["22"]],
    ["only here", ["30"]],
    ["%", []],
    ["_", []],
    ["", []],
    ["   ", []],
  ])("finds %j on %j", async (q, ids) => {
    expect(await idsOf(q)).toEqual(ids);
  });

  it.each([
    "'",
    "\\",
    "qq & | ! <-> :* (",
    "'; drop table mirror.files; --",
    "\0",
    "\ud800",
    "x".repeat(100_000),
    "x ".repeat(50_000),
    "a".repeat(999),
    "%s %d $1",
    `"${"(".repeat(500)}`,
    "\u202e\u0000\uffff😀",
  ])("takes any query: %#", async (q) => {
    expect(await findFiles(sql, { q })).toEqual({ total: 0, hits: [] });
    expect(await findAnchors(sql, { q })).toEqual([]);
    const docs = await findDocs(sql, { project: "kit", version: q.slice(0, 5000), q });
    expect(docs).toEqual({ total: 0, maxScore: null, hits: [] });
    expect(await findDocs(sql, { project: q, version: "latest", q: "harbor" })).toBeUndefined();
  });

  it("gives 20 hits a page, each once, and the same order on every page", async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => findFiles(sql, { q: "paged", page })));
    expect(pages.map(({ total }) => total)).toEqual([46, 46, 46, 46]);
    expect(pages.map(({ hits }) => hits.length)).toEqual([20, 20, 6, 0]);
    const ids = pages.flatMap(({ hits }) => hits.map(({ fileId }) => fileId));
    expect(ids).toEqual(["145", ...Array.from({ length: 45 }, (_, n) => String(100 + n))]);
    for (const page of [0, -1, 1.5, Number.NaN, 1e308, 2 ** 40])
      expect((await findFiles(sql, { q: "paged", page })).hits).toEqual([]);
  });

  it("marks the words and escapes all around them", async () => {
    const { hits } = await findFiles(sql, { q: "evil script" });
    const [script, evil] = ["script", "evil"].map((word) => `<span class="highlighted">${word}</span>`);
    const text = `&lt;${script}&gt;${evil}(&quot;x&quot;)&lt;/${script}&gt; &amp; more`;
    expect(hits).toEqual([{ fileId: "20", text }]);
  });

  it("shows the match at the end of a long text, and that in a title where the text has none", async () => {
    const textOf = async (q: string) => (await findFiles(sql, { q })).hits[0]?.text;
    const end = /^\.\.\.(?:filler )+<span class="highlighted">needle<\/span> at the end$/;
    expect(await textOf("needle")).toMatch(end);
    expect(await textOf("only")).toBe('<span class="highlighted">Only</span> Here');
  });

  it("finds no file that is deleted, and none of a deleted project, but those of one that the list hides", async () => {
    expect(await idsOf("lost")).toEqual(["40"]);
  });

  it("keeps to a project and a version", async () => {
    expect(await idsOf("harbor", { version: "v1.0" })).toEqual(["9", "10"]);
    expect(await idsOf("harbor", { project: "kit", version: "v1.0" })).toEqual(["9", "10"]);
    expect(await idsOf("harbor", { project: "hidden" })).toEqual(["40"]);
    expect(await idsOf("harbor", { project: "gone" })).toEqual([]);
    expect(await idsOf("harbor", { project: "nosuch" })).toEqual([]);
  });
});

describe("findAnchors", () => {
  it("wants all words in one anchor, and puts the one with the fewest other words first", async () => {
    const page = "http://kit.docs.example.org/en/latest/guide/p60.html";
    expect(await findAnchors(sql, { q: "tool harbor" })).toEqual([`${page}#exact`, `${page}#install`]);
    const places = ["tool", "exact", "install"].map((id) => `${page}#${id}`);
    expect(await findAnchors(sql, { q: "tool" })).toEqual(places);
    expect(await findAnchors(sql, { q: "foo.Bar" })).toEqual([`${page}#a%20b%3Cc%3E`]);
    expect(await findAnchors(sql, { q: "installing foo" })).toEqual([]);
    expect(await findAnchors(sql, { q: "lost" })).toHaveLength(1);
  });

  it("gives 50 at most, by the id as a number, and keeps to a scope", async () => {
    const found = await findAnchors(sql, { q: "repeated" });
    expect(found).toHaveLength(50);
    expect(found[0]).toBe("http://kit.docs.example.org/en/many/guide/p200.html#s");
    expect(await findAnchors(sql, { q: "repeated", version: "latest" })).toEqual([]);
    expect(await findAnchors(sql, { q: "repeated", project: "kit", version: "many" })).toHaveLength(50);
  });
});

describe("findDocs", () => {
  it("keeps to one version of one project, in the documented shape", async () => {
    const hit = {
      link: "http://kit.docs.example.org/en/latest/guide/p1",
      path: "guide/p1",
      project: "kit",
      title: "Harbor",
      version: "latest",
      content: ["<em>Lights</em> of the <em>harbor</em> and <em>harbor</em> walls."],
    };
    const found = await findDocs(sql, { project: "kit", version: "latest", q: "harbor lights" });
    expect(found).toEqual({ total: 1, maxScore: expect.any(Number), hits: [hit] });
    const both = await findDocs(sql, { project: "kit", version: "v1.0", q: "harbor" });
    expect(both?.hits.map(({ path }) => path)).toEqual(["guide/p9", "guide/p10"]);
  });

  it("gives 50 hits at most and counts all", async () => {
    await put({ id: "300", title: "x", text: "x", version: "many" });
    const found = await findDocs(sql, { project: "kit", version: "many", q: "x" });
    expect(found?.total).toBe(56);
    expect(found?.hits).toHaveLength(50);
    expect(found?.hits[0]?.title).toBe("x");
    expect(found?.hits[1]?.title).toBe("p200.html");
  });

  it("knows no project that is hidden or not there, and finds nothing in an unknown version", async () => {
    const ask = (project: string, version: string) => findDocs(sql, { project, version, q: "harbor" });
    expect(await ask("nosuch", "latest")).toBeUndefined();
    expect(await ask("hidden", "latest")).toBeUndefined();
    expect(await ask("gone", "latest")).toBeUndefined();
    expect(await ask("kit", "nosuch")).toEqual({ total: 0, maxScore: null, hits: [] });
  });
});

describe("storeContents", () => {
  it("indexes the largest texts that can be read, whatever their words", async () => {
    // What needs the most bytes of the index for a byte of the text: short words that are all different.
    const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    const letter = (n: number) => letters[Math.floor(n) % 36];
    const word = (n: number) => `${letter(n)}${letter(n / 36)}${letter(n / 1296)}`;
    const short = Array.from({ length: 100_000 }, (_, n) => word(n)).join(" ");
    // Korean: three bytes a letter, and pairs of them that are all different.
    const wide = Array.from({ length: 133_000 }, (_, n) =>
      String.fromCharCode(0xac00 + (n % 900), 0xac00 + Math.floor(n / 900)),
    ).join(" ");
    const signs = Array.from({ length: 20_000 }, (_, n) => String.fromCodePoint(0x4e00 + n))
      .join("")
      .repeat(20);
    const texts = [short, wide, signs, "x".repeat(400_000), "a-b/c.d@e_".repeat(40_000)];
    for (const [place, text] of texts.entries()) {
      await put({ id: `90${place}`, title: "y".repeat(500), text: text.slice(0, 400_000), version: "large" });
    }
    const rows = await sql`
      select file_id, reason from mirror.file_contents where version = 'large' and search is not null order by file_id`;
    expect(rows).toHaveLength(texts.length);
    expect(rows.map(({ reason }) => reason)).toEqual(texts.map(() => null));
    expect(await idsOf("aaa", { version: "large" })).toEqual(["900"]);
    expect(await idsOf("一丁", { version: "large" })).toEqual(["902"]);
    await sql`delete from mirror.file_contents where version = 'large'`;
  });

  it("stores the others of a batch where Postgres refuses one, which gets its reason", async () => {
    await put({ id: "400", title: "Fine", text: "before" });
    await put({ id: "401", title: "Refused", text: "before" });
    const where = { projectId: "kit", version: "latest", absoluteUrl: "/x" };
    const page = (fileId: string, text: string) => askedPage({ fileId, ...where }, { title: "New", text });
    const options = { sql, runId: 2, docsUrl: "http://localhost" };
    // The reader of pages never gives such a text.
    await storeContents(options, [page("400", "afterwards"), page("401", "nul \0")]);
    expect(await idsOf("afterwards")).toEqual(["400"]);
    expect(await idsOf("refused")).toEqual([]);
    const [row] = await sql`
      select reason, title, changed_run_id from mirror.file_contents where file_id = '401'`;
    const reason = expect.stringMatching(/^cannot be indexed: /);
    expect(row).toEqual({ reason, title: null, changed_run_id: 2 });
  });

  it("writes no page again that is the same", async () => {
    await put({ id: "410", title: "Same", text: "same", anchors: [{ id: "s", text: "same place" }] });
    const places = () => sql`
      select search::text, changed_run_id, (select array_agg(ctid::text) from mirror.file_anchors where file_id = '410') as anchors
      from mirror.file_contents where file_id = '410'`;
    const before = await places();
    await put({ id: "410", title: "Same", text: "same", anchors: [{ id: "s", text: "same place" }] });
    expect(await places()).toEqual(before);
  });
});

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { linkPages, writeSite } from "../../src/page/write-site.ts";
import { withSnapshot } from "../../src/report/read-answer.ts";
import { useFolder } from "../support/folder.ts";
import { usePages } from "../support/mirror-pages.ts";
import { seedPages } from "../support/served-pages.ts";

const ADA = `
  insert into mirror.users (id, username, first_name, first_seen_at, changed_at, record_hash) values ('71', 'ada.person', 'Ada', now(), now(), '');
  insert into mirror.project_users (project_id, position, user_uri, user_id)
  select id, 0, '/api/v1/user/71/', '71' from mirror.projects where id::int > 10`;

const pages = usePages((url) => seedPages(url, ADA));
const folder = useFolder("docmirror-site-");
const DEPS = { sourceTimezone: "Etc/UTC", staleAfterMs: 86_400_000, clock: systemClock, log: silentLog };

const write = (name: string, withPeople = false, signal = new AbortController().signal) =>
  withSnapshot(pages.sql, (tx) => writeSite(tx, folder.at(name), DEPS, { withPeople, signal }));
const filesOf = (name: string) =>
  readdirSync(folder.at(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const linksOf = (text: string) => [...text.matchAll(/ href="([^"#]+)[^"]*"/g)].map(([, href = ""]) => href);

let made: Awaited<ReturnType<typeof writeSite>>;
beforeAll(async () => {
  made = await write("site", true);
});

it("holds each page and each file that a page of it links to, and needs no server", () => {
  const files = filesOf("site");
  const html = files.filter((path) => path.endsWith(".html"));
  expect(html).toHaveLength(made.pages);
  for (const page of html) {
    const text = readFileSync(page, "utf8");
    expect(text, page).not.toMatch(/<form|<script|href="\//);
    const gone = linksOf(text)
      .filter((href) => !/^[a-z]+:/.test(href))
      .filter((href) => !existsSync(resolve(dirname(page), decodeURIComponent(href))));
    expect(gone, page).toEqual([]);
  }
  const read = (name: string) => readFileSync(folder.at("site", name), "utf8");
  expect(linksOf(read("index.html"))).toEqual(
    expect.arrayContaining(["page.css", "trends.html", "project/17.html", "files/now/failing.csv"]),
  );
  expect(linksOf(read("project/17.html"))).toContain("../index.html");
  for (const name of ["trends/7.html", "trends/30.html", "mirror.html", "errors.html", "projects.html"])
    expect(existsSync(folder.at("site", name)), name).toBe(true);
  expect(linksOf(read("trends.html"))).toEqual(expect.arrayContaining(["trends/7.html", "trends/30.html"]));
  const rows = JSON.parse(read("files/now/failing.json"));
  expect(rows.map((row: { project_slug: string }) => row.project_slug)).toContain("17");
  expect(files.filter((path) => path.includes("..") || /[<>"]/.test(path))).toEqual([]);
});

it("has names of people with the flag alone; replaces an older one at once, or not where it is stopped, and nothing else", {
  tags: ["long"],
}, async () => {
  const named = () =>
    filesOf("site")
      .filter((path) => readFileSync(path, "utf8").includes("ada.person"))
      .map((path) => path.split("/site/")[1]);
  expect(named()).toEqual(expect.arrayContaining(["index.html", "project/17.html"]));
  const before = filesOf("site").toSorted();
  const stop = new AbortController();
  stop.abort(new Error("stopped"));
  await expect(write("site", false, stop.signal)).rejects.toThrow("stopped");
  expect(filesOf("site").toSorted()).toEqual(before);
  expect(readdirSync(folder.path).filter((name) => name.startsWith("."))).toEqual([]);
  await write("site");
  expect(filesOf("site").toSorted()).toEqual(before);
  expect(named()).toEqual([]);
  writeFileSync(folder.at("site/mine.txt"), "");
  await expect(write("site")).rejects.toThrow(/contains mine.txt, which is not part/);
});

it("makes links relative, keeps those to elsewhere, and leaves out what has no file", () => {
  const places = new Map([
    ["/", "index.html"],
    ["/errors", "errors.html"],
    ["/?page=2", "now/2.html"],
  ]);
  const page = `<a href="/">a</a><a href="/errors#why">b</a><a href="/?page=2">c</a><a href="/projects?q=1">d</a>
<a href="https://x.test/?a=1&amp;b=2">e</a><a href="#top">f</a><form action="/x"><a href="/">g</a></form>`;
  expect(linkPages(page, "project/pip.html", places).text).toBe(
    `<a href="../index.html">a</a><a href="../errors.html#why">b</a><a href="../now/2.html">c</a><a>d</a>
<a href="https://x.test/?a=1&amp;b=2">e</a><a href="#top">f</a>`,
  );
});

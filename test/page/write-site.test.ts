import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { linkPages } from "../../src/page/link-pages.ts";
import { writeSite } from "../../src/page/write-site.ts";
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

it("holds each page and each file that a page of it links to, and needs no server", async () => {
  const made = await write("whole");
  const files = filesOf("whole");
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
  const index = readFileSync(folder.at("whole/index.html"), "utf8");
  expect(linksOf(index)).toEqual(
    expect.arrayContaining(["page.css", "trends.html", "project/17.html", "files/now/failing.csv"]),
  );
  expect(linksOf(readFileSync(folder.at("whole/project/17.html"), "utf8"))).toContain("../index.html");
  for (const name of ["trends/7.html", "trends/30.html", "mirror.html", "errors.html", "projects.html"])
    expect(existsSync(folder.at("whole", name)), name).toBe(true);
  expect(linksOf(readFileSync(folder.at("whole/trends.html"), "utf8"))).toEqual(
    expect.arrayContaining(["trends/7.html", "trends/30.html"]),
  );
  const rows = JSON.parse(readFileSync(folder.at("whole/files/now/failing.json"), "utf8"));
  expect(rows.map((row: { project_slug: string }) => row.project_slug)).toContain("17");
  expect(files.filter((path) => path.includes("..") || /[<>"]/.test(path))).toEqual([]);
});

it("has names of people with the flag alone", async () => {
  const namesIn = (name: string) =>
    filesOf(name).filter((path) => readFileSync(path, "utf8").includes("ada.person"));
  await write("without");
  expect(namesIn("without")).toEqual([]);
  await write("with", true);
  expect(namesIn("with").map((path) => path.split("/with/")[1])).toEqual(
    expect.arrayContaining(["index.html", "project/17.html"]),
  );
});

it("replaces an older one at once, stays as it was where it is stopped, and replaces nothing else", async () => {
  await write("again");
  const before = filesOf("again").toSorted();
  const stop = new AbortController();
  stop.abort(new Error("stopped"));
  await expect(write("again", false, stop.signal)).rejects.toThrow("stopped");
  expect(filesOf("again").toSorted()).toEqual(before);
  expect(readdirSync(folder.path).filter((name) => name.startsWith("."))).toEqual([]);
  await write("again");
  expect(filesOf("again").toSorted()).toEqual(before);
  writeFileSync(folder.at("again/mine.txt"), "");
  await expect(write("again")).rejects.toThrow(/contains mine.txt, which is not part/);
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

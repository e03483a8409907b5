import { describe, expect, test } from "vitest";
import { type Loading, setUpLoading } from "../support/loading.ts";
import { fingerprint } from "../support/stored-mirror.ts";
import { wireFile, wireProject, wireVersion } from "../support/wire-records.ts";

const [OLD, MIDDLE, NEW] = ["2024-05-01T10:00:00", "2024-05-01T10:00:00.000001", "2024-05-02T00:00:00"];
const copy = (modified_date: string | null, name: string) => wireProject("1", { modified_date, name });

async function stored({ sql }: Loading) {
  const [row] = await sql`select name, source, listed from mirror.projects where id = '1'`;
  return row;
}

/** Brings a copy of project 1 here, by its list or embedded in a file of its own. */
let files = 0;
async function bring(loading: Loading, source: "list" | "detail" | "embedded", project: unknown) {
  if (source !== "embedded") return loading.load("project", [project], { source });
  files += 1;
  return loading.load("file", [wireFile(String(files), project)]);
}

describe("of two copies of a project", () => {
  test.each([
    { first: "list", second: "embedded", dates: [OLD, NEW], wins: "second" },
    { first: "list", second: "embedded", dates: [OLD, MIDDLE], wins: "second" },
    { first: "list", second: "embedded", dates: [OLD, OLD], wins: "first" },
    { first: "list", second: "embedded", dates: [NEW, OLD], wins: "first" },
    { first: "list", second: "embedded", dates: [MIDDLE, OLD], wins: "first" },
    { first: "list", second: "embedded", dates: [OLD, null], wins: "first" },
    { first: "detail", second: "embedded", dates: [OLD, OLD], wins: "first" },
    { first: "embedded", second: "list", dates: [OLD, NEW], wins: "second" },
    { first: "embedded", second: "list", dates: [OLD, OLD], wins: "second" },
    { first: "embedded", second: "list", dates: [NEW, OLD], wins: "first" },
    { first: "embedded", second: "detail", dates: [OLD, OLD], wins: "second" },
    { first: "embedded", second: "embedded", dates: [OLD, NEW], wins: "second" },
    { first: "embedded", second: "embedded", dates: [OLD, OLD], wins: "second" },
    { first: "embedded", second: "embedded", dates: [NEW, OLD], wins: "first" },
    { first: "embedded", second: "embedded", dates: [null, OLD], wins: "second" },
    { first: "list", second: "list", dates: [NEW, OLD], wins: "second" },
    { first: "list", second: "detail", dates: [NEW, OLD], wins: "second" },
  ] as const)("$first of $dates.0 and then $second of $dates.1: the $wins stays", async (row) => {
    await using loading = await setUpLoading();
    await bring(loading, row.first, copy(row.dates[0], "first"));
    await bring(loading, row.second, copy(row.dates[1], "second"));
    const listed = row.first === "list" || row.second === "list";
    expect(await stored(loading)).toEqual({ name: row.wins, source: row[row.wins], listed });
  });

  test("on one page the newest stays, of equal age the later one", async () => {
    await using loading = await setUpLoading();
    const copies = [copy(NEW, "new"), copy(NEW, "new too"), copy(OLD, "old")];
    await loading.load(
      "version",
      copies.map((project, index) => wireVersion(String(index), project)),
    );
    expect(await stored(loading)).toMatchObject({ name: "new too" });
    expect(await loading.sql`select distinct project_id from mirror.versions`).toEqual([{ project_id: "1" }]);
  });

  test("on several pages of a batch the newest stays", async () => {
    await using loading = await setUpLoading();
    await loading.loadPages("version", [
      [wireVersion("1", copy(MIDDLE, "middle"))],
      [wireVersion("2", copy(NEW, "new"))],
      [wireVersion("3", copy(OLD, "old"))],
    ]);
    expect(await stored(loading)).toMatchObject({ name: "new" });
  });
});

describe("a project that only embedded copies tell of", () => {
  test("is not listed until the list shows it, equal or not", async () => {
    await using loading = await setUpLoading();
    await bring(loading, "embedded", copy(OLD, "same"));
    expect(await stored(loading)).toEqual({ name: "same", source: "embedded", listed: false });
    await bring(loading, "detail", copy(NEW, "other"));
    expect(await stored(loading)).toEqual({ name: "other", source: "detail", listed: false });
    await bring(loading, "list", copy(NEW, "other"));
    expect(await stored(loading)).toEqual({ name: "other", source: "list", listed: true });
  });

  test("is listed from then on when the list shows an older copy", async () => {
    await using loading = await setUpLoading();
    await bring(loading, "embedded", copy(NEW, "new"));
    await bring(loading, "list", copy(OLD, "old"));
    expect(await stored(loading)).toEqual({ name: "new", source: "embedded", listed: true });
  });

  test("stays listed when a newer embedded copy replaces the listed one", async () => {
    await using loading = await setUpLoading();
    await bring(loading, "list", copy(OLD, "old"));
    await bring(loading, "embedded", copy(NEW, "new"));
    await bring(loading, "list", copy(NEW, "new"));
    const before = await fingerprint(loading.sql);
    await bring(loading, "list", copy(NEW, "new"));
    expect(await stored(loading)).toEqual({ name: "new", source: "list", listed: true });
    expect(await fingerprint(loading.sql)).toEqual(before);
  });
});

describe("an embedded copy", () => {
  test("that was brought in already is not looked up again, a different one is", async () => {
    await using loading = await setUpLoading();
    await bring(loading, "embedded", copy(OLD, "here"));
    // What is behind the loader's back shows whether it looked.
    await loading.sql`update mirror.projects set record_hash = '\\x00', name = 'looked at' where id = '1'`;
    await bring(loading, "embedded", copy(OLD, "here"));
    expect(await stored(loading)).toMatchObject({ name: "looked at" });
    await bring(loading, "embedded", copy(NEW, "another"));
    expect(await stored(loading)).toMatchObject({ name: "another" });
  });

  test("is forgotten when its transaction was not committed", async () => {
    await using loading = await setUpLoading();
    const file = wireFile("1", copy(OLD, "here"));
    const broken = loading.load("file", [file], { alongside: () => Promise.reject(new Error("no")) });
    await expect(broken).rejects.toThrow("no");
    await loading.load("file", [file]);
    expect(await stored(loading)).toMatchObject({ name: "here" });
  });
});

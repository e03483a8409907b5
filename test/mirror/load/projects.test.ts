import fc from "fast-check";
import { describe, expect } from "vitest";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
import { wireFile, wireProject, wireVersion } from "../../support/wire-records.ts";

const [OLD, MIDDLE, NEW] = ["2024-05-01T10:00:00", "2024-05-01T10:00:00.000001", "2024-05-02T00:00:00"];
const copy = (modified_date: string | null, name: string) => wireProject("1", { modified_date, name });
/** The list shows a field that embedded copies lack. */
const longer = (date: string, name: string) => ({ ...copy(date, name), sponsor: null });

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
  test("the one that was asked for later stays, whatever its date says and wherever each comes from", async ({
    loading,
  }) => {
    const sources = ["list", "detail", "embedded"] as const;
    for (const first of sources)
      for (const second of sources)
        for (const [date, then = null] of [[OLD, NEW], [NEW, OLD], [MIDDLE, OLD], [OLD]] as const) {
          await loading.sql`truncate mirror.projects, mirror.project_users, mirror.files, mirror.changes cascade`;
          loading.nextRun();
          await bring(loading, first, copy(date, "first"));
          if (date === MIDDLE) loading.nextRun();
          await bring(loading, second, copy(then, "second"));
          const listed = first === "list" || second === "list";
          const what = `${first} of ${date}, then ${second} of ${then}`;
          expect(await stored(loading), what).toEqual({ name: "second", source: second, listed });
        }
  });

  test("an embedded one of the same date is another form, and replaces nothing", async ({ loading }) => {
    const [embedded, listed] = [copy(NEW, "short"), longer(NEW, "whole")];
    for (const night of [1, 2]) {
      await bring(loading, "list", listed);
      await bring(loading, "embedded", embedded);
      await bring(loading, "embedded", embedded);
      const expected = { name: "whole", source: "list", listed: true };
      expect(await stored(loading), `night ${night}`).toEqual(expected);
      loading.nextRun();
      await bring(loading, "embedded", embedded);
    }
    expect(await loading.sql`select 1 from mirror.changes`).toEqual([]);
    await bring(loading, "embedded", copy(OLD, "changed"));
    expect(await stored(loading)).toMatchObject({ name: "changed" });
    await bring(loading, "list", copy(OLD, "whole again"));
    expect(await stored(loading)).toMatchObject({ name: "whole again", source: "list" });
  });

  test("a listed one is loaded though a later embedded one of its date came first", async ({ loading }) => {
    const at = (minute: number) => ({ at: `2024-05-15T12:0${minute}:00Z` });
    const embedded = copy(NEW, "short");
    await loading.load("project", [longer(NEW, "before")], at(0));
    loading.nextRun({ startedAt: new Date("2024-05-15T12:01:00Z") });
    await loading.load("file", [wireFile("1", embedded)], at(4));
    await loading.load("project", [longer(NEW, "after")], at(3));
    expect(await stored(loading)).toMatchObject({ name: "after", source: "list" });
    await loading.load("file", [wireFile("2", embedded)], at(6));
    await loading.load("project", [longer(NEW, "older")], at(2));
    expect(await stored(loading)).toMatchObject({ name: "after" });
    await loading.load("project", [longer(NEW, "newer")], at(5));
    expect(await stored(loading)).toMatchObject({ name: "newer" });
    // Another date is another project: the embedded copy showed that this one is past.
    await loading.load("project", [longer(OLD, "of old")], at(5));
    expect(await stored(loading)).toMatchObject({ name: "newer" });
  });

  test("a skipped page of the list names projects that an older copy replaced", async ({ loading }) => {
    const at = (minute: number) => new Date(Date.UTC(2024, 4, 15, 12, minute));
    await loading.load("project", [copy(OLD, "listed")]);
    loading.nextRun();
    await loading.load("file", [wireFile("1", copy(NEW, "older"))], { at: at(5).toISOString() });
    const { loader } = loading;
    expect(await loader.noteSkipped("project", ["1", "2"], at(4))).toEqual([]);
    expect(await loader.noteSkipped("project", ["1", "2"], at(6))).toEqual(["1"]);
    await loading.load("file", [wireFile("2", wireProject("2"))], { at: at(5).toISOString() });
    expect(await loader.noteSkipped("project", ["2"], at(7))).toEqual([]);
  });

  test("on one page the newest stays, of equal age the later one", async ({ loading }) => {
    const copies = [copy(NEW, "new"), copy(NEW, "new too"), copy(OLD, "old")];
    const versions = copies.map((project, index) => wireVersion(String(index), project));
    await loading.load("version", versions);
    expect(await stored(loading)).toMatchObject({ name: "new too" });
    expect(await loading.sql`select distinct project_id from mirror.versions`).toEqual([{ project_id: "1" }]);
  });

  test("of pages that were asked for at the same moment the newest stays", async ({ loading }) => {
    await loading.loadPages("version", [
      [wireVersion("1", copy(MIDDLE, "middle"))],
      [wireVersion("2", copy(NEW, "new"))],
      [wireVersion("3", copy(OLD, "old"))],
    ]);
    expect(await stored(loading)).toMatchObject({ name: "new" });
  });

  test("after any runs the one that the last run asked for last stays", { tags: ["long"] }, async ({
    loading,
  }) => {
    const sighting = fc.record({
      source: fc.constantFrom("list" as const, "detail" as const, "embedded" as const),
      date: fc.constantFrom(OLD, MIDDLE, NEW, null),
      /** How long the reply took to come, or how long it had stood in a cache. */
      seconds: fc.nat(20),
      isCached: fc.boolean(),
      joinsBatch: fc.boolean(),
    });
    const run = fc.record({
      startsAt: fc.nat(5),
      sightings: fc.array(sighting, { minLength: 1, maxLength: 8 }),
      order: fc.infiniteStream(fc.nat()),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 3 }), async (runs) => {
        await loading.sql`truncate mirror.projects, mirror.project_users, mirror.files, mirror.changes cascade`;
        let last = "";
        for (const { startsAt, sightings, order } of runs) {
          const start = Date.UTC(2024, 4, 10 + startsAt);
          loading.nextRun({ startedAt: new Date(start) });
          // The first is never from a cache. What stood in one is older than the run.
          const seen = sightings.map((one, index) => ({
            ...one,
            askedAt: new Date(one.isCached && index > 0 ? start - 3_600_000 - index : start + index * 1000),
            observedAt: new Date(start + (index + one.seconds) * 1000 + 1),
          }));
          last = `of ${seen.reduce((latest, one) => (one.askedAt > latest.askedAt ? one : latest)).date}`;
          const arrived = seen
            .map((one) => ({ one, place: order.next().value }))
            .sort((left, right) => left.place - right.place)
            .map(({ one }) => one);
          const batches: (typeof seen)[] = [];
          for (const one of arrived) {
            const batch = batches.at(-1);
            if (one.joinsBatch && batch?.[0]?.source === one.source) batch.push(one);
            else batches.push([one]);
          }
          for (const batch of batches) {
            const of = batch[0]?.source ?? "list";
            const [resource, source] =
              of === "embedded" ? (["file", "list"] as const) : (["project", of] as const);
            const pages = batch.map(({ date, askedAt, observedAt }) => {
              files += 1;
              const project = copy(date, `of ${date}`);
              const records = resource === "file" ? [wireFile(String(files), project)] : [project];
              const normalized = loading.loader.normalize(resource, records);
              return { records, request: "", askedAt, observedAt, normalized };
            });
            await loading.loader.load({ resource, source, pages });
          }
        }
        expect(await stored(loading)).toMatchObject({ name: last });
      }),
      { numRuns: Number(process.env.DOCMIRROR_TEST_RUNS ?? 15) },
    );
  });
});

describe("a project that only embedded copies tell of", () => {
  test("is not listed until the list shows it, equal or not", async ({ loading }) => {
    await bring(loading, "embedded", copy(OLD, "same"));
    expect(await stored(loading)).toEqual({ name: "same", source: "embedded", listed: false });
    await bring(loading, "detail", copy(NEW, "other"));
    expect(await stored(loading)).toEqual({ name: "other", source: "detail", listed: false });
    await bring(loading, "list", copy(NEW, "other"));
    expect(await stored(loading)).toEqual({ name: "other", source: "list", listed: true });
  });

  test("is listed from then on when the list shows a copy asked for earlier", async ({ loading }) => {
    await loading.load("file", [wireFile("1", copy(OLD, "new"))], { at: "2024-05-15T12:00:00Z" });
    await loading.load("project", [copy(NEW, "old")], { at: "2024-05-15T11:00:00Z" });
    expect(await stored(loading)).toEqual({ name: "new", source: "embedded", listed: true });
  });

  test("stays listed when a newer embedded copy replaces the listed one", async ({ loading }) => {
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
  test("that was brought in already is not looked up again, a different one is", async ({ loading }) => {
    await bring(loading, "embedded", copy(OLD, "here"));
    // What is behind the loader's back shows whether it looked.
    await loading.sql`update mirror.projects set record_hash = '\\x00', name = 'looked at' where id = '1'`;
    await bring(loading, "embedded", copy(OLD, "here"));
    expect(await stored(loading)).toMatchObject({ name: "looked at" });
    await bring(loading, "embedded", copy(NEW, "another"));
    expect(await stored(loading)).toMatchObject({ name: "another" });
  });

  test("is forgotten when its transaction was not committed", async ({ loading }) => {
    const file = wireFile("1", copy(OLD, "here"));
    const broken = loading.load("file", [file], { alongside: () => Promise.reject(new Error("no")) });
    await expect(broken).rejects.toThrow("no");
    await loading.load("file", [file]);
    expect(await stored(loading)).toMatchObject({ name: "here" });
  });
});

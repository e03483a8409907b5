import { spawnSync } from "node:child_process";
import { mkdir, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { backUpIntoFolder, findSuperfluous } from "../../../src/store/backup/backup-folder.ts";
import { checkBackup } from "../../../src/store/backup/read-backup.ts";
import { createTestDatabase } from "../../support/database.ts";
import { useFolder } from "../../support/folder.ts";
import { useDatabase } from "../../support/use-database.ts";

const named = (moment: string) => `docmirror-${moment}.backup`;
const at = (date: Date) => named(date.toISOString().replace(/:|\.\d+/g, ""));

describe("what stays in a folder of backups", () => {
  const monthOf = (name: string) => name.slice(10, 17);
  /** Those that a wrong clock dated ahead, the newest of the others, and the first of each month of a year. */
  function staying(names: readonly string[], written: string, keep: number): string[] {
    const past = names.filter((name) => name <= written).toSorted();
    const yearAgo = `${Number(monthOf(written).slice(0, 4)) - 1}${monthOf(written).slice(4)}`;
    const firsts = past.filter((name) => past.find((other) => monthOf(other) === monthOf(name)) === name);
    const kept = [...past.slice(-keep), ...firsts.filter((name) => monthOf(name) > yearAgo)];
    return names.filter((name) => name > written || kept.includes(name));
  }

  it("is the newest, and the first of each of twelve months, and none of a thirteenth", () => {
    const last = Date.parse("2026-03-02T02:17:00Z");
    const nights = Array.from({ length: 400 }, (_, ago) => at(new Date(last - ago * 86_400_000)));
    const gone = findSuperfluous(nights, named("2026-03-02T021700Z"), 1);
    const months = ["04", "05", "06", "07", "08", "09", "10", "11", "12"].map((month) => `2025-${month}`);
    const firsts = [...months, "2026-01", "2026-02", "2026-03"].map((month) => named(`${month}-01T021700Z`));
    const stayed = nights.filter((name) => !gone.includes(name)).toSorted();
    expect(stayed).toEqual([...firsts, named("2026-03-02T021700Z")]);
  });

  it("is the newest and the firsts of months, whatever the dates are, also where the clock fell back to 1970", () => {
    const day = fc.date({ min: new Date("2025-01-01"), max: new Date("2027-12-31"), noInvalidDate: true });
    const moment = fc.oneof({ weight: 50, arbitrary: day }, fc.constant(new Date(0)));
    fc.assert(
      fc.property(
        fc.uniqueArray(moment.map(at), { minLength: 1, maxLength: 80 }),
        fc.nat(79),
        fc.integer({ min: 1, max: 20 }),
        (names, index, keep) => {
          const written = names[index % names.length] ?? "";
          const gone = findSuperfluous(names, written, keep);
          expect(names.filter((name) => !gone.includes(name))).toEqual(staying(names, written, keep));
        },
      ),
    );
  });
});

describe("a backup into a folder", () => {
  const folder = useFolder("docmirror-backup-folder-");
  const { sql } = useDatabase(createTestDatabase);
  const { signal } = new AbortController();
  const write = (now: string, { keep = 1, into = folder.path } = {}) =>
    backUpIntoFolder({ sql, definitions: readDefinitions(), folder: into, keep, now: new Date(now), signal });
  beforeEach(async () => {
    for (const name of await readdir(folder.path)) await rm(folder.at(name), { recursive: true });
  });

  it("is whole and named by its moment, and the older one goes", async () => {
    const first = await write("2026-11-02T02:17:00.123Z");
    expect(first).toMatchObject({ what: folder.at(named("2026-11-02T021700Z")), removed: [], left: [] });
    expect((await checkBackup(first.what, { signal })).rows).toEqual(first.rows);
    await write("2026-11-03T02:17:00Z");
    const third = await write("2026-11-04T02:17:00Z");
    expect(third.removed).toEqual([folder.at(named("2026-11-03T021700Z"))]);
    expect(await readdir(folder.path)).toEqual(["2026-11-02T021700Z", "2026-11-04T021700Z"].map(named));
  });

  it("leaves what is no backup of this name, and it takes no place of one", { tags: ["long"] }, async () => {
    const old = (await write("2026-10-05T02:17:00Z")).what;
    await write("2026-10-06T02:17:00Z", { keep: 9 });
    await symlink(old, folder.at(named("2026-10-07T021700Z")));
    await writeFile(folder.at(named("2026-10-08T021700Z")), "mine");
    await mkdir(folder.at(named("2026-10-09T021700Z")));
    await writeFile(folder.at("docmirror.backup"), "mine");
    const { removed } = await write("2026-10-10T02:17:00Z", { keep: 2 });
    expect(removed).toEqual([]);
    expect((await write("2026-10-11T02:17:00Z")).removed).toEqual(
      ["2026-10-10T021700Z", "2026-10-06T021700Z"].map((moment) => folder.at(named(moment))),
    );
    expect(await readdir(folder.path)).toEqual([
      ...["05", "07", "08", "09", "11"].map((day) => named(`2026-10-${day}T021700Z`)),
      "docmirror.backup",
    ]);
  });

  it("removes drafts that killed ones left, once they have not grown for an hour", async () => {
    const draftOf = (moment: string) => folder.at(`.${named(moment)}.partial-00ff`);
    const [old, ahead, young, foreign] = [
      ...["2026-11-01T021700Z", "2026-11-02T021700Z", "2026-11-03T021700Z"].map(draftOf),
      folder.at(".other.backup.partial-00ff"),
    ] as [string, string, string, string];
    const now = Date.now() / 1000;
    for (const [path, ageS] of [
      [old, 3700],
      [ahead, -7200],
      [young, 3500],
      [foreign, 9000],
    ] as const) {
      await writeFile(path, "");
      await utimes(path, now - ageS, now - ageS);
    }
    const target = folder.at("target");
    await writeFile(target, "");
    await utimes(target, 0, 0);
    await symlink(target, draftOf("2026-11-04T021700Z"));
    const { what } = await write("2026-11-05T02:17:00Z");
    const left = [young, foreign, target, draftOf("2026-11-04T021700Z"), what];
    expect((await readdir(folder.path)).map((name) => folder.at(name)).toSorted()).toEqual(left.toSorted());
  });

  it("makes no folder, and says what to do", async () => {
    const gone = folder.at("gone");
    await expect(write("2026-11-05T02:17:00Z", { into: gone })).rejects.toMatchObject({
      exitCode: 2,
      message: `the folder ${gone} is not there`,
      hint: expect.stringContaining("mount its disk"),
    });
    await writeFile(gone, "");
    await expect(write("2026-11-05T02:17:00Z", { into: gone })).rejects.toThrow(`${gone} is not a folder`);
    await expect(write("2026-11-05T02:17:00Z", { into: "/proc/1" })).rejects.toThrow(/^could not write to /);
  });

  it("that finds the disk full removes nothing, neither a backup nor the last good one", async ({ skip }) => {
    const disk = folder.at("disk");
    await mkdir(disk);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).status !== 0)
      skip("needs the right to mount");
    onTestFinished(() => void spawnSync("umount", ["--lazy", disk]));
    const good = (await write("2026-11-02T02:17:00Z", { into: disk })).what;
    await writeFile(join(disk, "filler"), Buffer.alloc(100_000)).catch(() => {});
    await expect(write("2026-11-05T02:17:00Z", { into: disk })).rejects.toMatchObject({
      message: expect.stringContaining("the disk is full (ENOSPC)"),
      hint: "make room on the disk",
    });
    expect(await readdir(disk)).toEqual(["docmirror-2026-11-02T021700Z.backup", "filler"]);
    expect((await checkBackup(good, { signal })).rows).toBeDefined();
  });
});

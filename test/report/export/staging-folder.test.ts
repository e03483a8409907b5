import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MARKER, withStagingFolder } from "../../../src/report/export/staging-folder.ts";

let parent: string;
let target: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "docmirror-aside-"));
  target = join(parent, "out");
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const exportText = (text: string, place = target) =>
  withStagingFolder(place, ["data"], async (folder) => {
    await writeFile(join(folder, "data"), text);
    await writeFile(join(folder, MARKER), "{}");
  });
const readText = () => readFile(join(target, "data"), "utf8");
const listParent = async () => (await readdir(parent)).toSorted();

describe("withStagingFolder", () => {
  it("makes the folder and those above it, replaces it whole, and leaves nothing beside", async () => {
    target = join(parent, "deep", "er", "out");
    await exportText("first");
    await exportText("second");
    expect(await readText()).toBe("second");
    expect(await readdir(join(parent, "deep", "er"))).toEqual(["out"]);
  });

  it("shows readers what was there before until all is written", async () => {
    await exportText("first");
    await withStagingFolder(target, ["data"], async (folder) => {
      await writeFile(join(folder, "data"), "half");
      expect(await readText()).toBe("first");
      expect((await readdir(target)).toSorted()).toEqual([MARKER, "data"]);
    });
  });

  it("leaves the old one, and nothing of the new one, when writing fails", async () => {
    await exportText("first");
    const failing = withStagingFolder(target, ["data"], async (folder) => {
      await writeFile(join(folder, "data"), "half");
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    expect(await readText()).toBe("first");
    expect(await listParent()).toEqual(["out"]);
  });

  it("keeps the group, the mode and the setgid bit of the old one", async () => {
    await exportText("first");
    // Only root may give a folder to any group.
    const [group] = process.getuid?.() === 0 ? [12_345] : (process.getgroups?.() ?? []);
    await chown(target, -1, group ?? -1);
    await chmod(target, 0o2771);
    const { gid } = await stat(target);
    await exportText("second");
    expect(await readText()).toBe("second");
    const { mode, gid: kept } = await stat(target);
    expect([(mode & 0o7777).toString(8), kept]).toEqual(["2771", gid]);
    expect((await stat(join(target, "data"))).gid).toBe(gid);
  });

  it("takes an empty folder, and replaces what a link points to", async () => {
    await mkdir(target);
    await exportText("first");
    await symlink(target, join(parent, "link"));
    await exportText("second", join(parent, "link"));
    expect(await readText()).toBe("second");
    expect(await listParent()).toEqual(["link", "out"]);
  });

  it.each([
    ["that no export made", { data: "mine" }, "was not made by an export"],
    ["to which somebody added", { data: "", [MARKER]: "{}", "thesis.txt": "mine" }, "contains thesis.txt, "],
  ])("touches no folder %s", async (_, files: Record<string, string>, message) => {
    await mkdir(target);
    for (const [name, text] of Object.entries(files)) await writeFile(join(target, name), text);
    const refused = { exitCode: 2, message: expect.stringContaining(message) };
    await expect(exportText("new")).rejects.toMatchObject(refused);
    expect((await readdir(target)).toSorted()).toEqual(Object.keys(files).toSorted());
    expect(await listParent()).toEqual(["out"]);
  });

  it("looks once more before it replaces: somebody may have added to it meanwhile", async () => {
    await exportText("first");
    const late = withStagingFolder(target, ["data"], () => writeFile(join(target, "thesis.txt"), "mine"));
    await expect(late).rejects.toMatchObject({ exitCode: 2 });
    expect(await readText()).toBe("first");
  });

  it("refuses a file, what is below a file, and the root", async () => {
    await writeFile(target, "mine");
    for (const place of [target, join(target, "below"), "/"])
      await expect(exportText("new", place)).rejects.toMatchObject({ exitCode: 2 });
    expect(await readFile(target, "utf8")).toBe("mine");
  });
});

describe("two at once, as in containers in which each is process 1", () => {
  it("do not disturb each other: the first to end is there, and the other one says so", async () => {
    await exportText("before");
    const late = withStagingFolder(target, ["data"], async (folder) => {
      await writeFile(join(folder, "data"), "late");
      await exportText("first");
    });
    await expect(late).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("another export"),
    });
    expect(await readText()).toBe("first");
    expect(await listParent()).toEqual(["out"]);
  });
});

describe("after one that was killed", () => {
  it("puts the old folder back that was taken away for the new one", async () => {
    await exportText("first");
    await rename(target, join(parent, ".out.old-1"));
    const failing = withStagingFolder(target, ["data"], async () => {
      expect(await readText()).toBe("first");
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    expect(await listParent()).toEqual(["out"]);
  });

  it("takes away what it left a day ago, and nothing in which something is younger, or of another", async () => {
    const kept = [".other.partial-1", ".out.old-1", ".out.partial-1"];
    for (const name of [...kept, ".out.partial-2"]) await mkdir(join(parent, name));
    await writeFile(join(parent, ".out.partial-1", "data"), "");
    for (const name of await listParent()) if (!name.includes("old")) await utimes(join(parent, name), 0, 0);
    await mkdir(target);
    await exportText("new");
    expect(await listParent()).toEqual([...kept, "out"]);
  });
});

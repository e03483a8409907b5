import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExportForm, LAYOUT, readLastExport } from "../../../src/report/export/write-months.ts";

const FORM: ExportForm = {
  layout: LAYOUT,
  format: "csv",
  since: null,
  until: "2025-01-01",
  version: "1.0.0",
  definition: "hash",
};
const FILE = { path: "part-0.csv", rows: 1, bytes: 3, revision: "7" };
const MANIFEST = { ...FORM, relations: { fact_builds: { files: [FILE] } }, more: true };
const withFiles = (...files: object[]) => ({ relations: { fact_builds: { files } } });
const withFile = (fault: object) => withFiles(FILE, { ...FILE, ...fault });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "docmirror-last-export-"));
  await writeFile(join(folder, FILE.path), "abc");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function readManifest(text: string) {
  await writeFile(join(folder, "_docmirror.json"), text);
  return readLastExport(folder, FORM);
}

describe("the manifest of the last export", () => {
  it("gives its files as far as they are there, without what nobody reads", async () => {
    const manifest = { ...MANIFEST, ...withFiles({ ...FILE, more: true }, { ...FILE, path: "gone.csv" }) };
    const last = await readManifest(JSON.stringify(manifest));
    if ("reason" in last) expect.fail(last.reason);
    expect(await last.find(FILE.path)).toStrictEqual(FILE);
    expect(await last.find("gone.csv")).toBeNull();
    expect(await last.find("other.csv")).toBeNull();
  });

  it("is of another layout", async () => {
    const last = await readManifest(JSON.stringify({ ...MANIFEST, layout: LAYOUT - 1 }));
    expect(last).toEqual({ reason: "its files have another layout" });
  });

  it.each([
    ...["", "[]", "{", "null", "5", "{}"],
    ...[
      ...[{ layout: undefined }, { layout: 1.5 }, { layout: "3" }, { format: null }, { since: 5 }],
      ...[{ until: undefined }, { version: [] }, { definition: {} }, { relations: null }],
      { relations: { fact_builds: [] } },
      { relations: { fact_builds: { files: {} } } },
      { relations: { fact_builds: { files: [null] } } },
      ...[{ path: 5 }, { rows: -1 }, { bytes: "3" }, { bytes: 1e300 }, { revision: null }].map(withFile),
    ].map((fault) => JSON.stringify({ ...MANIFEST, ...fault })),
  ])("is none of this version: %s", async (text) => {
    expect(await readManifest(text)).toEqual({ reason: "its _docmirror.json is not one of this version" });
  });
});

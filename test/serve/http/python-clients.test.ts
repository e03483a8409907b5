/** Programs for the old service were written with Python's slumber, or with a loop over requests. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPage } from "../../../src/mirror/content/read-page.ts";
import { runSync, type SyncOptions } from "../../../src/mirror/run/run.ts";
import { withContent } from "../../../src/mirror/run/with-content.ts";
import {
  type FileRecord,
  type ProjectRecord,
  RESOURCES,
  type Resource,
  type UserRecord,
  type VersionRecord,
} from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { installPackages } from "../../support/python-packages.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { type ServedInterface, serveInterface } from "../../support/served-pages.ts";
import { withDefaults } from "../../support/sync.ts";

const SCRIPT = fileURLToPath(new URL("read-mirror.py", import.meta.url));

type Json = Record<string, unknown>;
type Records = Record<Resource, Json[]>;
type Outcome = Record<"requests" | "slumber" | "without_slash", Records> &
  Record<"answers" | "answers_without_slash", Json>;

describe("Python's clients", { tags: ["long"] }, () => {
  let folder: string;
  let quick: QuickWorld;
  let served: ServedInterface;
  let missing: string | null = null;
  let outcome: Outcome;
  let file: FileRecord;
  let version: VersionRecord;
  let user: UserRecord;
  let all: Records;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "docmirror-python-"));
    const installed = await installPackages("clients-requirements.txt");
    if ("missing" in installed) {
      missing = installed.missing;
      return;
    }
    quick = await startQuickWorld({ rates: QUIET, hiddenShare: 0.1, builds: 300 });
    const settings = { content: true };
    await withContent(runSync)(withDefaults<SyncOptions>(quick.databaseUrl, quick.baseUrl, { settings }));
    // The mirror is read when the service is gone.
    await quick.simulation.close();
    served = await serveInterface(quick.databaseUrl);
    all = {} as Records;
    for (const resource of RESOURCES) {
      const { objects } = (await served.json(`/api/v1/${resource}/?limit=1000`)) as { objects: Json[] };
      all[resource] = objects;
    }
    // A project with a slug that is no number, a file and so a version.
    file = (all.file as unknown as FileRecord[]).find((one) => !/^\d/.test(one.project.slug)) as FileRecord;
    const slug = /\/en\/([^/]+)\//.exec(file.absolute_url)?.[1] ?? "";
    version = all.version.find(
      (one) => one.slug === slug && (one.project as ProjectRecord).id === file.project.id,
    ) as unknown as VersionRecord;
    user = all.user[3] as unknown as UserRecord;
    const word = readPage(quick.world.page(file.absolute_url)?.html ?? "").text.split(/\W+/)[3] ?? "";
    const facts = {
      project: file.project,
      version,
      user,
      word,
      anchor: file.name.replace(".html", ""),
      docs: { project: file.project.slug, version: slug, q: word },
    };
    await writeFile(join(folder, "facts.json"), JSON.stringify(facts));
    const args = [SCRIPT, served.url, join(folder, "facts.json")];
    const { stdout } = await promisify(execFile)(installed.python, args, {
      timeout: 60_000,
      maxBuffer: 256 * 1024 * 1024,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", NO_PROXY: "*" },
    });
    outcome = JSON.parse(stdout) as Outcome;
  }, 240_000);

  afterAll(async () => {
    await served?.[Symbol.asyncDispose]();
    await quick?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it.for([
    ["a loop over requests", "requests"],
    ["slumber", "slumber"],
    ["slumber without closing slashes", "without_slash"],
  ] as const)("%s reads every record of the mirror once, as the service had it", async ([
    _,
    reader,
  ], context) => {
    if (missing !== null) return context.skip(missing);
    const byId = (records: readonly object[]) =>
      (records as Json[]).toSorted((one, other) => Number(one.id) - Number(other.id));
    for (const resource of RESOURCES) {
      expect(outcome[reader][resource]).toEqual(all[resource]);
      const theirs = await quick.world.catalog().list(resource, { filters: [], offset: 0, limit: 1000 });
      expect(byId(outcome[reader][resource])).toEqual(byId(theirs.records));
      expect(theirs.records.length).toBeGreaterThan(30);
    }
  });

  it.for([
    "answers",
    "answers_without_slash",
  ] as const)("slumber finds single records, searches, and gets errors that it knows: %s", (which, context) => {
    if (missing !== null) return context.skip(missing);
    const answers = outcome[which];
    const { id } = file.project;
    const project = all.project.find((one) => one.id === id);
    expect(answers).toMatchObject({ by_id: project, by_number: project, by_slug: project });
    const ofProject = (one: Json) => (one.project as ProjectRecord).id === id;
    expect(answers.versions_of).toEqual(all.version.filter(ofProject));
    const builds = all.build.filter((one) => one.project === project?.resource_uri);
    expect(answers).toMatchObject({ builds_of: builds, build_filter: builds });
    expect(answers.project_filter).toEqual([project]);
    const named = all.version.filter((one) => ofProject(one) && one.slug === version.slug);
    expect(answers.version_filter).toEqual(named);
    expect(answers.boolean_filter).toBe(all.version.filter((one) => one.active === true).length);
    expect(answers.user_filter).toEqual([user]);
    const root = RESOURCES.map((resource) => {
      return [resource, { list_endpoint: `/api/v1/${resource}/`, schema: `/api/v1/${resource}/schema/` }];
    });
    expect(answers.root).toEqual(Object.fromEntries(root));
    expect(answers.schema).toHaveProperty("fields.state.type", "string");
    const { files, anchors, docs } = answers as {
      files: Json[];
      anchors: string[];
      docs: { total: number; hits: { fields: Json }[] };
    };
    expect(files.length).toBeGreaterThan(0);
    for (const { text, ...record } of files) {
      expect(text).toContain('<span class="highlighted">');
      expect(all.file).toContainEqual(record);
    }
    expect(anchors.length).toBeGreaterThan(0);
    expect(docs.total).toBe(docs.hits.length);
    expect(docs.hits[0]?.fields.project).toEqual([file.project.slug]);
    expect(answers).toMatchObject({
      absent: 404,
      refused: { error: "Invalid limit 'abc' provided. Please provide a positive integer." },
      written: 405,
      head: true,
    });
  });
});

/** A process that stays up, whose files an upgrade replaces before it has used them all. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { pageOf, startCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createFolder } from "../../support/folder.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SRC = join(ROOT, "src");

/** Each import that waits until it is needed and that `worker`, `watch` and `serve` can meet, and what loads it at their start. */
const LOADED_BY = {
  "@duckdb/node-api": "loadForNights, where there is an export",
  "@mongodb-js/saslprep": "loadPasswordRules",
  "log-update": "loadForNights",
  "pino-pretty": "createLog",
  "src/cli/output/progress.ts": "loadForNights",
  "src/mirror/api/dispatcher.ts": "loadConnections",
  // Only of runs that end.
  "src/base/metrics/meters.ts": "createMeters of the worker",
  "src/cli/output/table.ts": "createSummaryPrinter, before the run",
  "src/report/status/read-figures.ts": "createMetricsFile, before the run",
  "src/serve/http/served-mirror.ts": "createMetricsFile, before the run",
};

/** The imports of a file: those that are there from the start, and those within functions. Types are none. */
function importsOf(file: string): { fixed: string[]; late: string[] } {
  const source = readFileSync(file, "utf8").replace(
    /typeof import\(|^\s*(?:\*|\/\/).*|import\("[^"]+"\)\.[A-Z]/gm,
    "",
  );
  const names = (pattern: RegExp) =>
    [...source.matchAll(pattern)].map(([, name = ""]) =>
      name.startsWith(".") ? join(dirname(file), name) : name,
    );
  return {
    fixed: names(/(?:^|\n)(?:import|export)\s(?!type\b)(?:[^"';]*?\sfrom\s*)?"([^"]+)"/g),
    late: names(/\bimport\(\s*"([^"]+)"/g),
  };
}

function lateImportsFrom(files: readonly string[]): string[] {
  const seen = new Set<string>();
  const late = new Set<string>();
  const visit = (file: string): void => {
    if (!file.startsWith(SRC) || !file.endsWith(".ts") || seen.has(file)) return;
    seen.add(file);
    const imports = importsOf(file);
    for (const name of imports.late) late.add(name.startsWith(SRC) ? relative(ROOT, name) : name);
    for (const name of [...imports.fixed, ...imports.late]) visit(name);
  };
  files.forEach(visit);
  return [...late].toSorted();
}

const isBuilt = existsSync(join(ROOT, "dist/cli/main.js"));

describe("a process that stays up", () => {
  it("meets no late import that is not loaded at its start", () => {
    const commands = ["worker/worker-command", "watch-command", "serve-command", "context/run-command"];
    const found = lateImportsFrom(commands.map((name) => join(SRC, `cli/${name}.ts`)));
    expect(found).toEqual(Object.keys(LOADED_BY).toSorted());
  });

  it.skipIf(!isBuilt)(
    "syncs, exports and backs up for the first time after its files are gone",
    {
      tags: ["long"],
    },
    async () => {
      using folder = createFolder("docmirror-replaced-");
      const copy = folder.at("install");
      mkdirSync(copy);
      for (const path of ["bin", "dist", "migrations", "package.json"])
        cpSync(join(ROOT, path), join(copy, path), { recursive: true });
      symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
      const [backups, exported] = [folder.at("backups"), folder.at("export")];
      mkdirSync(backups);
      await using database = await createTestDatabase();
      await using world = await startQuickWorld();
      const env = {
        DATABASE_URL: database.url,
        DOCMIRROR_BASE_URL: world.simulation.url,
        DOCMIRROR_RATE: "0",
      };
      const files = {
        DOCMIRROR_BACKUP_CRON: "* * * * * *",
        DOCMIRROR_BACKUP_DIR: backups,
        DOCMIRROR_EXPORT_CRON: "* * * * * *",
        DOCMIRROR_EXPORT_DIR: exported,
      };
      await using leader = startCli(["worker", "--http-port", "0", "--sync-cron", "@yearly"], { env });
      await leader.waitFor("stderr", /sync succeeded/);
      // It does none of the work before the other one ends.
      const script = pathToFileURL(join(copy, "bin/docmirror.js"));
      const often = ["worker", "--http-port", "0", "--sync-cron", "* * * * * *"];
      await using standby = startCli(often, { env: { ...env, ...files }, script });
      const page = await pageOf(standby);
      await standby.waitFor("stderr", /this worker stands by/);
      rmSync(copy, { recursive: true });
      expect(readdirSync(backups)).toEqual([]);
      expect((await leader.stop()).code).toBe(143);
      await standby.waitFor("stderr", /sync succeeded/);
      await expect.poll(() => readdirSync(backups).length, { timeout: 60_000 }).toBeGreaterThan(0);
      await expect.poll(() => existsSync(exported), { timeout: 60_000 }).toBe(true);
      for (const path of ["/", "/mirror", "/metrics", "/openapi.json", "/api/v1/build/", "/status.json"])
        expect([path, (await fetch(page + path)).status]).toEqual([path, 200]);
      const { code, stderr } = await standby.stop();
      expect(`exit code ${code}, ${stderr.slice(-1500)}`).toMatch(/^exit code 143/);
      expect(stderr).not.toMatch(/Cannot find|ENOENT|not be loaded/);
    },
  );
});

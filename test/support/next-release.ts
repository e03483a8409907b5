import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

interface NextReleaseOptions {
  /** The file of its one migration more. */
  migration: string;
  /** Files below `src/report/functions` that it defines otherwise, by their names without a folder. */
  definitions?: Record<string, (text: string) => string>;
}

const TAG = "9000_next_release";

/** This program as its next release could be: a later version, with one migration more, whose name is `tag`. */
export function makeNextRelease(options: NextReleaseOptions) {
  const { upgrade, ...release } = installRelease();
  upgrade(options);
  return { ...release, tag: TAG };
}

/** This program in a folder of its own, where its files can be replaced by those of the next release. */
export function installRelease() {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-next-"));
  const at = (path: string) => join(folder, path);
  const change = (path: string, edit: (text: string) => string) => {
    const text = readFileSync(at(path), "utf8");
    const edited = edit(text);
    if (edited === text) throw new Error(`the edit of ${path} changes nothing`);
    writeFileSync(at(path), edited);
  };
  for (const path of ["src", "migrations", "package.json", "tsconfig.json"])
    cpSync(join(ROOT, path), at(path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), at("node_modules"));
  return {
    folder: pathToFileURL(`${folder}/`),
    script: pathToFileURL(at("src/cli/main.ts")),
    upgrade({ migration, definitions = {} }: NextReleaseOptions): void {
      change("package.json", (text) => text.replace(/"version": "[^"]+"/, '"version": "9.0.0"'));
      writeFileSync(at(`migrations/${TAG}.sql`), migration);
      change("migrations/meta/_journal.json", (text) => {
        const journal = JSON.parse(text) as { entries: { idx: number; when: number; tag: string }[] };
        const last = journal.entries.at(-1);
        if (last === undefined) throw new Error("there is no migration");
        journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1000, tag: TAG });
        return JSON.stringify(journal);
      });
      const sql = readdirSync(at("src/report"), { recursive: true, encoding: "utf8" });
      for (const [file, edit] of Object.entries(definitions)) {
        const path = sql.find((one) => basename(one) === file);
        if (path === undefined) throw new Error(`there is no ${file}`);
        change(`src/report/${path}`, edit);
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

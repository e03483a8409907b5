/**
 * Bundles the program into `dist/cli`, with the folders that are named on the command line, and writes
 * `LICENSES.txt`: the notices of every package in the bundle. Plain JavaScript, so that it needs no build itself.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const OUT = "dist/cli";

const { metafile } = await build({
  entryPoints: ["src/cli/main.ts"],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  // Installed by those who want Parquet; it is a shared library, which cannot be bundled.
  external: ["@duckdb/node-api"],
  // Bundled CommonJS packages call `require` for Node's own modules.
  banner: {
    js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);",
  },
  logLevel: "warning",
  metafile: true,
});
for (const folder of process.argv.slice(2)) cpSync(folder, join(OUT, basename(folder)), { recursive: true });
writeFileSync(join(OUT, "LICENSES.txt"), licences(bundledPackages(metafile)));

/** The folders of all packages of which something is in the bundle, sorted by name. */
function bundledPackages({ outputs }) {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  const folders = inputs.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders)].filter((folder) => folder !== undefined).toSorted();
}

function licences(folders) {
  const notices = folders.map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? withoutFile(author) : readFileSync(join(folder, file), "utf8").trim();
    if (license === undefined) throw new Error(`${folder} names no license: may it be bundled?`);
    return `${name} ${version}, ${license}\n\n${text}\n`;
  });
  const rule = `\n${"-".repeat(80)}\n\n`;
  return `docmirror contains code of these packages.\n${rule}${notices.join(rule)}`;
}

/** Some packages state their license in their manifest alone. */
function withoutFile(author) {
  const name = typeof author === "object" ? author.name : author;
  return `Copyright ${name ?? "its authors"}\nThe license is at https://spdx.org/licenses/`;
}

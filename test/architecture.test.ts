import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/**
 * The rooms of `src` and what each may import: `cli → worker, simulate, serve → page, catalog, status → sync, report, notify,
 * protocol → builds → walk, load, content, client → api, normalize, embedded → wire, db → leaves`. Arrows point to the
 * right alone, so a newcomer can read the rooms one by one, and none needs the whole house to be tested.
 */
const ROOMS: readonly (readonly string[])[] = [
  ["cli"],
  ["worker", "simulate", "serve"],
  ["page", "catalog", "status"],
  ["sync", "report", "notify", "protocol"],
  ["builds"],
  ["walk", "load", "content", "client"],
  ["api", "normalize", "embedded"],
  ["wire", "db"],
  ["config", "log", "clock", "errors", "printable", "version", "schedule"],
];
const LEAVES = ROOMS[ROOMS.length - 1] ?? [];

/**
 * Arrows within one level that stand on purpose: tables are named for the resources of the wire, and settings
 * that cannot be used are errors.
 */
const EXCEPTIONS = ["db → wire", "config → errors"];

/**
 * What a room must not reach, not even by a detour: the mirror is served without upstream, the protocol does
 * not know what it answers from, a walk does not know where its pages go, and the client works without a
 * database.
 */
const UNREACHABLE = [
  ["serve", "api"],
  ["protocol", "db"],
  ["report", "api"],
  ["walk", "db"],
  ["client", "db"],
] as const;

const SRC = fileURLToPath(new URL("../src", import.meta.url));
const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => path.replaceAll("\\", "/"));

/** What a file imports or re-exports: our own files as paths below src, others by their names. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(SRC, file), "utf8");
  const found = source.matchAll(
    /(?:^|\n)\s*(?:import|export)\s(?:[^"';]*?\sfrom\s*)?"([^"]+)"|\bimport\(\s*"([^"]+)"/g,
  );
  return [...found]
    .map(([, fixed, lazy]) => fixed ?? lazy ?? "")
    .map((name) =>
      name.startsWith(".") ? relative(SRC, join(SRC, dirname(file), name)).replaceAll("\\", "/") : name,
    );
}

const IMPORTS = new Map(FILES.map((file) => [file, importsOf(file)]));
const ownImports = (file: string) => (IMPORTS.get(file) ?? []).filter((name) => IMPORTS.has(name));
const roomOf = (file: string) => file.replace(/\.ts$/, "").split("/")[0] ?? "";
const levelOf = (room: string) => ROOMS.findIndex((rooms) => rooms.includes(room));

/** Every import from one room into another, as `from → to` with the file that has it. */
const ARROWS = FILES.flatMap((file) =>
  ownImports(file).map((target) => ({ file, from: roomOf(file), to: roomOf(target) })),
).filter(({ from, to }) => from !== to);

describe("the rooms", () => {
  it("are all known", () => {
    expect([...new Set(FILES.map(roomOf))].filter((room) => levelOf(room) < 0)).toEqual([]);
  });

  it("import only from rooms to their right", () => {
    const wrong = ARROWS.filter(({ from, to }) => levelOf(from) >= levelOf(to));
    expect(wrong.filter(({ from, to }) => !EXCEPTIONS.includes(`${from} → ${to}`))).toEqual([]);
  });

  it.each(UNREACHABLE)("keep %s from reaching %s", (from, to) => {
    const reached = new Set<string>();
    const reach = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      ownImports(file).forEach(reach);
    };
    FILES.filter((file) => roomOf(file) === from).forEach(reach);
    expect([...reached].filter((file) => roomOf(file) === to)).toEqual([]);
  });

  it("leave the leaves without imports of ours", () => {
    const own = ARROWS.filter(({ from }) => LEAVES.includes(from));
    expect(own.filter(({ from, to }) => `${from} → ${to}` !== "config → errors")).toEqual([]);
  });

  it("keep normalize from reading or writing anything", () => {
    const outer = FILES.filter((file) => roomOf(file) === "normalize")
      .flatMap((file) => IMPORTS.get(file) ?? [])
      .filter((name) => !IMPORTS.has(name));
    expect([...new Set(outer)]).toEqual(["node:crypto"]);
  });
});

describe("the files", () => {
  it("import each other by their .ts names", () => {
    const names = FILES.flatMap((file) =>
      readFileSync(join(SRC, file), "utf8").match(/(?:from|import) "\.[^"]*(?<!\.ts)"/g),
    );
    expect(names.filter((name) => name !== null)).toEqual([]);
  });

  it("never import each other in a circle", () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      if (done.has(file) || path.includes(file)) return;
      for (const target of ownImports(file)) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of FILES) visit(file, []);
    expect(circles).toEqual([]);
  });

  it("have at most 400 lines", () => {
    const lines = (file: string) => readFileSync(join(SRC, file), "utf8").split("\n").length - 1;
    expect(FILES.filter((file) => lines(file) > 400)).toEqual([]);
  });

  it("have kebab-case names that say what is in them", () => {
    const segments = FILES.flatMap((file) => file.replace(/\.ts$/, "").split("/"));
    expect(segments.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
    const attics = /^(utils?|helpers?|common|shared|misc|types?|lib|constants?|stuff|core|base)$/;
    expect(segments.filter((name) => attics.test(name))).toEqual([]);
  });

  it("are of kinds that the build compiles or copies", () => {
    const { scripts } = JSON.parse(readFileSync(join(SRC, "../package.json"), "utf8"));
    const isCopied = (path: string) =>
      scripts.bundle.includes(dirname(path)) &&
      ([".sql", ".css"].includes(extname(path)) || scripts.bundle.includes(basename(path)));
    const others = readdirSync(SRC, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && ![".ts", ".json"].includes(extname(entry.name)))
      .map(({ parentPath, name }) => relative(join(SRC, ".."), join(parentPath, name)));
    expect(others.filter((path) => !isCopied(path))).toEqual([]);
  });

  it("read the environment in config alone", () => {
    const readers = FILES.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(SRC, file), "utf8")));
    expect(readers.filter((file) => roomOf(file) !== "config")).toEqual([]);
  });
});

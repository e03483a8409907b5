/**
 * The fence around the rooms of `src`. The house had a plan before, without a fence, and grew over it within months: 25
 * rooms side by side, and folders of a hundred files. So what a newcomer may rely on is checked here: arrows point one
 * way, a page is read with its own folder and `parts`, and no folder is longer than a screen. A test that fails here asks
 * for another place of a file, or for a new plan in `docs/internals/changing.md`; an exception in this file is neither.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { RELATIONS } from "../src/report/dictionary.ts";

/** The eleven rooms. Each imports only from levels below its own. */
const ROOMS: readonly (readonly string[])[] = [
  ["cli"],
  ["simulate"],
  ["serve"],
  ["page"],
  ["notify"],
  ["report", "client"],
  ["mirror"],
  ["store"],
  ["base"],
  ["resources"],
];

/**
 * The same within the rooms that have folders with an order: a folder imports only from levels below its own. Files
 * beside the folders may import all of them, and no folder imports from such a file.
 */
const FOLDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  // A page knows its own folder, what the pages share and what they keep, and never another page.
  page: [
    ["now", "trends", "projects", "project", "build", "errors", "mirror"],
    ["data"],
    ["cache"],
    ["parts"],
  ],
  // The way of a record, from its last step to its first.
  mirror: [
    ["verify"],
    ["run"],
    ["content"],
    ["builds"],
    ["lists"],
    ["load"],
    ["normalize"],
    ["walk"],
    ["api"],
  ],
  serve: [["http"], ["catalog"], ["protocol"]],
  store: [["backup"], ["migrate", "embedded"], ["ledger"], ["connection", "schema"]],
};

/**
 * What a part must not reach, not even by a detour: the mirror is served and reported without upstream, the protocol does
 * not know what it answers from, a walk does not know where its pages go, and the client works without a database.
 */
const UNREACHABLE = [
  ["serve", "mirror/api"],
  ["report", "mirror/api"],
  ["serve/protocol", "store"],
  ["mirror/walk", "store"],
  ["client", "store"],
] as const;

const MOST_FILES = 30;
const MOST_LINES = 400;
/** The formatter breaks code at 110; texts and templates are broken by hand. */
const MOST_CHARACTERS = 160;

const SRC = fileURLToPath(new URL("../src", import.meta.url));
const ENTRIES = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(SRC, join(parentPath, name)).replaceAll("\\", "/"));
const FILES = ENTRIES.filter((path) => path.endsWith(".ts"));

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
const isIn = (file: string, place: string) => file.startsWith(`${place}/`);
const roomOf = (file: string) => file.split("/")[0] ?? "";
/** The folder of a file within its room; empty for a file beside the folders. */
const folderOf = (file: string) => file.split("/").slice(1, -1)[0] ?? "";
const levelIn = (levels: readonly (readonly string[])[], name: string) =>
  levels.findIndex((names) => names.includes(name));
const ARROWS = FILES.flatMap((file) => ownImports(file).map((target) => [file, target] as const));

describe("the rooms", () => {
  it("are these eleven", () => {
    expect([...new Set(FILES.map(roomOf))].toSorted()).toEqual(ROOMS.flat().toSorted());
  });

  it("import only from levels below their own", () => {
    const between = ARROWS.filter(([from, to]) => roomOf(from) !== roomOf(to));
    expect(between.length).toBeGreaterThan(500);
    const wrong = between.filter(([from, to]) => levelIn(ROOMS, roomOf(from)) >= levelIn(ROOMS, roomOf(to)));
    expect(wrong).toEqual([]);
  });

  it.each(Object.entries(FOLDERS))("keep the order of the folders in %s", (room, levels) => {
    const folders = readdirSync(join(SRC, room), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== "styles")
      .map(({ name }) => name);
    expect(folders.toSorted()).toEqual(levels.flat().toSorted());
    const within = ARROWS.filter(([from, to]) => isIn(from, room) && isIn(to, room)).filter(
      ([from, to]) => folderOf(from) !== folderOf(to) && folderOf(from) !== "",
    );
    expect(
      within.filter(
        ([from, to]) =>
          folderOf(to) === "" || levelIn(levels, folderOf(from)) >= levelIn(levels, folderOf(to)),
      ),
    ).toEqual([]);
  });

  it("import nothing of ours from outside src", () => {
    const outside = FILES.flatMap((file) => IMPORTS.get(file) ?? []).filter((name) => name.startsWith("../"));
    expect(outside).toEqual([]);
  });

  it("print through cli/output, which knows no command", () => {
    const out = ARROWS.filter(([from]) => isIn(from, "cli/output"));
    expect(out.filter(([, to]) => isIn(to, "cli") && !isIn(to, "cli/output"))).toEqual([]);
  });

  it.each(UNREACHABLE)("keep %s from reaching %s", (from, to) => {
    const reached = new Set<string>();
    const reach = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      ownImports(file).forEach(reach);
    };
    const start = FILES.filter((file) => isIn(file, from));
    expect(start.length).toBeGreaterThan(1);
    start.forEach(reach);
    expect([...reached].filter((file) => isIn(file, to))).toEqual([]);
  });

  it("keep mirror/normalize from reading or writing anything", () => {
    const outer = FILES.filter((file) => isIn(file, "mirror/normalize"))
      .flatMap((file) => IMPORTS.get(file) ?? [])
      .filter((name) => !IMPORTS.has(name));
    expect([...new Set(outer)]).toEqual(["node:crypto"]);
  });
});

describe("the driver", () => {
  it("is known to store/connection alone, and what answers its faults too", () => {
    const knows = FILES.filter((file) => (IMPORTS.get(file) ?? []).includes("postgres"));
    expect(knows.filter((file) => !isIn(file, "store/connection"))).toEqual([]);
    const inner = ARROWS.filter(([, to]) => isIn(to, "store/connection/driver"));
    expect(inner.length).toBeGreaterThan(5);
    expect(inner.filter(([from]) => !isIn(from, "store/connection"))).toEqual([]);
  });
});

describe("the files", () => {
  it(`are at most ${MOST_FILES} in a folder`, () => {
    const counts = new Map<string, number>();
    for (const path of ENTRIES) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
  });

  it("import each other by their .ts names", () => {
    const names = FILES.flatMap((file) =>
      readFileSync(join(SRC, file), "utf8").match(/(?:from|import) "\.[^"]*(?<!\.ts)"/g),
    );
    expect(names.filter((name) => name !== null)).toEqual([]);
  });

  it("give the driver text in one place", () => {
    const given = FILES.filter((file) => /\.unsafe\b/.test(readFileSync(join(SRC, file), "utf8")));
    expect(given).toEqual(["store/connection/sql.ts"]);
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

  it(`have at most ${MOST_LINES} lines`, () => {
    const lines = (file: string) => readFileSync(join(SRC, file), "utf8").split("\n").length - 1;
    expect(FILES.filter((file) => lines(file) > MOST_LINES)).toEqual([]);
  });

  it(`have at most ${MOST_CHARACTERS} characters in a line`, () => {
    const long = FILES.flatMap((file) =>
      readFileSync(join(SRC, file), "utf8")
        .split("\n")
        .flatMap((line, place) => (line.length > MOST_CHARACTERS ? [`${file}:${place + 1}`] : [])),
    );
    expect(long).toEqual([]);
  });

  it("have kebab-case names that say what is in them", () => {
    // What is stored or answered has the name that SQL knows it by.
    const segments = FILES.filter((file) => !/^report\/(relations|stored)\//.test(file)).flatMap((file) =>
      file.replace(/\.ts$/, "").split("/"),
    );
    expect(segments.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
    // `base` is a room with a plan: leaves that all other rooms stand on.
    const attics = /^(utils?|helpers?|common|shared|misc|types?|lib|constants?|stuff|core)$/;
    expect(segments.filter((name) => attics.test(name))).toEqual([]);
  });

  it("are of kinds that the build compiles or copies", () => {
    const bundle = readFileSync(join(SRC, "bundle.js"), "utf8");
    const folders = [...bundle.matchAll(/"(src\/[\w/]+)",/g)].map(([, folder]) => `${folder}/`);
    const isCopied = (path: string) =>
      path === "src/bundle.js" ||
      ([".sql", ".css", ".bash", ".fish", ".zsh"].includes(extname(path)) &&
        (path.includes("/sql/") || folders.some((folder) => path.startsWith(folder))));
    const others = ENTRIES.filter((path) => ![".ts", ".json"].includes(extname(path))).map(
      (path) => `src/${path}`,
    );
    expect(others.filter((path) => !isCopied(path))).toEqual([]);
    expect(others.length).toBeGreaterThan(50);
  });

  it("read the environment in base/config alone", () => {
    const readers = FILES.filter((file) => /\bprocess\.env\b/.test(readFileSync(join(SRC, file), "utf8")));
    expect(readers.filter((file) => file !== "base/config.ts" && !isIn(file, "base/config"))).toEqual([]);
  });
});

const DOCS = join(SRC, "../docs");
const OF_MAINTAINERS = ["changing", "decisions", "performance", "reliability"];
/** Scripts write them from what the code says. */
const WRITTEN = ["cli", "contract", "data-dictionary", "metrics", "settings"];

const linesOf = (text: string) => text.split("\n").length - 1;
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const sources = FILES.map((file) => readFileSync(join(SRC, file), "utf8"));
const IMPORT = /^(?:import\b[^;]*?;|export (?:type )?(?:\{[^}]*\}|\*[^;]*) from [^;]*;)$/gm;
/**
 * The words of a page that are written by hand. What stands between two marks is drawn by a script, such as
 * `npm run docs:tables`, and so are the answers of the cookbook, its blocks without a language.
 */
const wordsOf = (path: string) =>
  readFileSync(join(DOCS, path), "utf8")
    .replace(path === "cookbook.md" ? /^```\n[\s\S]*?^```$/gm : "", "")
    .replace(/<!-- (\w+):begin -->[\s\S]*?<!-- \1:end -->/g, "")
    .split(/\s+/)
    .filter((word) => word !== "").length;
const pagesOfUsers = readdirSync(DOCS).filter(
  (name) => name.endsWith(".md") && !WRITTEN.includes(name.replace(".md", "")),
);

const lines = sum(sources.map(linesOf));
/** The code that is left without comments, types, long names and line breaks, in kB: these cost nothing, so nobody has to save them. */
const weight =
  sum(sources.map((text) => transformSync(text, { loader: "ts", minify: true, format: "esm" }).code.length)) /
  1000;
const importLines = sum(
  sources.flatMap((text) => [...text.matchAll(IMPORT)].map(([found]) => linesOf(`${found}\n`))),
);
/**
 * The weight of the house. No single file was wrong while it grew, so the sums have an end as well. What needs more room makes
 * it: less code elsewhere, not a larger number here.
 */
const BUDGETS = [
  { what: "kB of src, each file minified", most: 1081, is: Math.round(weight) },
  { what: "files of TypeScript in src", most: 520, is: FILES.length },
  {
    what: "per cent of these lines that import",
    most: 7,
    is: Number(((100 * importLines) / lines).toFixed(2)),
  },
  { what: "relations of schema report", most: 41, is: RELATIONS.length },
  {
    what: "words of four pages for maintainers",
    most: 11_000,
    is: sum(OF_MAINTAINERS.map((name) => wordsOf(`internals/${name}.md`))),
  },
  {
    what: "words of the pages for users",
    most: 18_000,
    is: sum(["../README.md", ...pagesOfUsers].map(wordsOf)),
  },
];

describe("the weight", () => {
  const table = BUDGETS.map(({ what, most, is }) => `${is > most ? "✗" : "✓"} ${is} of ${most} ${what}`).join(
    "\n",
  );

  it.each(
    BUDGETS.map(({ most, what, is }) => [most, what, is] as const),
  )("is at most %d %s", (most, _, is) => {
    expect(is, table).toBeGreaterThan(0);
    expect(is, table).toBeLessThanOrEqual(most);
  });
});

import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire, SourceMap } from "node:module";
import { basename, delimiter, dirname, isAbsolute, join, relative } from "node:path";

const require = createRequire(import.meta.url);
const ROOT = dirname(require.resolve("docmirror/package.json"));
const SCRIPT = join(ROOT, "bin", "docmirror.js");

let name: string | undefined;

/**
 * The words that run this very program from this folder: `docmirror` where that name leads to it, else `npx docmirror` in a
 * checkout or a project, else the path. Elsewhere npx would ask the registry, where the name may be a stranger's.
 */
export function programName(): string {
  name ??= isOnPath() ? "docmirror" : isNpxOurs() ? "npx docmirror" : scriptPath();
  return name;
}

/** A text with the command lines in it, which are `docmirror …` in backticks, as they are typed here. */
export function spellProgram(text: string, { isJson = false } = {}): string {
  return text.replace(/`docmirror(?=[ `])/g, () => {
    const typed = isJson ? JSON.stringify(programName()).slice(1, -1) : programName();
    return `\`${typed}`;
  });
}

/** The command line that installs one of this package's optional packages beside it, in the right version. */
export function installLine(packageName: string): string {
  const { peerDependencies, optionalDependencies } = require("docmirror/package.json");
  const wanted = `${packageName}@${{ ...peerDependencies, ...optionalDependencies }[packageName]}`;
  const isCheckout = basename(dirname(ROOT)) !== "node_modules";
  const owner = isCheckout ? ROOT : dirname(dirname(ROOT));
  if (!isCheckout && basename(owner) === "lib" && !existsSync(join(owner, "package.json"))) {
    const prefix = dirname(owner);
    const isUsual = prefix === dirname(dirname(realpathSync(process.execPath)));
    return `npm install -g ${isUsual ? "" : `--prefix ${shellWord(prefix)} `}${wanted}`;
  }
  const place = npmFolder() === owner ? "" : `--prefix ${shellWord(owner)} `;
  return `npm install ${isCheckout ? "--no-save " : ""}${place}${wanted}`;
}

function isOnPath(): boolean {
  // npm puts the programs of the project's packages on the path of what it starts, but not on the user's.
  const isNpm = process.env.npm_command !== undefined;
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const found = folders
    .filter((folder) => !(isNpm && folder.endsWith(join("node_modules", ".bin"))))
    .map((folder) => join(folder, "docmirror"))
    .find(isExecutable);
  return found !== undefined && isThisProgram(found);
}

function isNpxOurs(): boolean {
  if (npmFolder() === ROOT) return true;
  const first = foldersUp()
    .map((folder) => join(folder, "node_modules", ".bin", "docmirror"))
    .find((link) => existsSync(link));
  return first !== undefined && isThisProgram(first);
}

/** The folder that npm takes for the project of the working directory. */
function npmFolder(): string | undefined {
  return foldersUp().find((folder) =>
    ["package.json", "node_modules"].some((entry) => existsSync(join(folder, entry))),
  );
}

function foldersUp(): string[] {
  const folders = [realpathSync(process.cwd())];
  for (let at = folders[0] ?? "/"; dirname(at) !== at; at = dirname(at)) folders.push(dirname(at));
  return folders;
}

function scriptPath(): string {
  const [, typed = ""] = process.argv;
  if (basename(typed) === "docmirror" && isThisProgram(typed)) return shellWord(typed);
  const fromHere = relative(realpathSync(process.cwd()), SCRIPT);
  return `node ${shellWord(fromHere.startsWith("..") ? SCRIPT : fromHere)}`;
}

/** True where a check of the file system holds; one that fails does not. */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

const isThisProgram = (file: string) => holds(() => realpathSync(file) === SCRIPT);
const isExecutable = (file: string) => holds(() => accessSync(file, constants.X_OK) === undefined);

/** A text as one word of a shell's command line, in quotes where it needs them. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Where the program is built, each file has its map beside it. In `src` there is none. */
const HERE = new URL(".", import.meta.url).href;

/**
 * The text with `src/…` in the place of the built files that its stack traces name. Node's own way reads every
 * map at the start; this reads those of the files in a trace, when it is printed.
 */
export function nameSources(text: string, folder: string = HERE): string {
  if (!text.includes(folder)) return text;
  return text.split(folder).reduce((before, after) => {
    const [place = "", file = "", line, column] = /^([\w.-]+\.js):(\d+):(\d+)/.exec(after) ?? [];
    const source = findSource(new URL(`${folder}${file}.map`), Number(line), Number(column));
    return source === null ? `${before}${folder}${after}` : `${before}${source}${after.slice(place.length)}`;
  });
}

/** Lines and columns count from 1 in a trace, and from 0 in a map. */
function findSource(map: URL, line: number, column: number): string | null {
  const entry = readMap(map)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !("originalSource" in entry)) return null;
  const { originalSource, originalLine, originalColumn } = entry;
  return `${originalSource.replace(/^(\.\.\/)+/, "")}:${originalLine + 1}:${originalColumn + 1}`;
}

const maps = new Map<string, SourceMap | null>();

function readMap(url: URL): SourceMap | null {
  const known = maps.get(url.href);
  if (known !== undefined) return known;
  const map = existsSync(url) ? new SourceMap(JSON.parse(readFileSync(url, "utf8"))) : null;
  maps.set(url.href, map);
  return map;
}

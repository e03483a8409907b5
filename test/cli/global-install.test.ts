/** The package as `npm pack` makes it, installed globally into an empty folder from the registry, by root and used by others. */
import { execFile } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, type TestContext } from "vitest";
import { findBuiltProgram } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { SMALL } from "../support/quick-world.ts";
import { startService } from "../support/service.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const isRoot = process.getuid?.() === 0;
/** `nobody`, who owns nothing else. */
const NOBODY = 65_534;
const SECONDS = 1000;

const made = useFolder("docmirror-global-");
let folder: string;
let prefix: string;
/** Why nothing could be installed, in one line; empty when all went well. */
let missing = "";

function run(file: string, args: readonly string[], { cwd, uid }: { cwd: string; uid?: number }) {
  // npm's own settings stay: they say which registry to ask, and how. What npm tells its programs must not.
  const { npm_command: _, ...surroundings } = process.env;
  const env = {
    ...surroundings,
    PATH: [join(prefix, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
    ...(uid !== undefined && { HOME: cwd }),
  };
  const owner = uid === undefined ? {} : { uid, gid: uid };
  return new Promise<{ code: number | null; text: string }>((resolve) => {
    execFile(file, args, { cwd, env, ...owner, maxBuffer: 2 ** 26 }, (error, out, errors) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), text: out + errors });
    });
  });
}

function workFolder(name: string, uid: number): string {
  const work = join(folder, name);
  mkdirSync(work, { mode: 0o755 });
  if (isRoot) chownSync(work, uid, uid);
  return work;
}

beforeAll(async () => {
  folder = realpathSync(made.path);
  chmodSync(folder, 0o755);
  prefix = join(folder, "prefix");
  if (findBuiltProgram() === null) {
    missing = "the program is not built";
    return;
  }
  const reach = ["view", "commander", "version", "--fetch-retries=0", "--fetch-timeout=20000"];
  if ((await run("npm", reach, { cwd: folder })).code !== 0) {
    missing = "the registry cannot be reached";
    return;
  }
  // Its scripts would build anew while other tests use the build.
  const packed = await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: ROOT });
  expect(packed).toMatchObject({ code: 0 });
  const file = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  const args = ["install", "-g", "--prefix", prefix, join(folder, file)];
  const installed = await run("npm", args, { cwd: folder });
  expect(installed).toMatchObject({ code: 0 });
}, 600 * SECONDS);

const skipWithoutInstall = ({ skip }: TestContext) => skip(missing !== "", `skipped: ${missing}`);

const ACCOUNTS: Record<string, number> = isRoot
  ? { root: 0, "an ordinary user": NOBODY }
  : { "this user": -1 };

describe("docmirror, installed globally", { tags: ["long"] }, () => {
  it("holds what it runs with, and nothing else", (context) => {
    skipWithoutInstall(context);
    const home = join(prefix, "lib/node_modules/docmirror");
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    const isThere = (name: string) => existsSync(join(home, "node_modules", name));
    expect(Object.keys(dependencies).filter((name) => !isThere(name))).toEqual([]);
    expect(Object.keys(devDependencies).filter(isThere)).toEqual([]);
    for (const name of ["LICENSES.txt", "sbom.json"]) expect(isThere(`../dist/cli/${name}`)).toBe(true);
  });

  it.for(Object.entries(ACCOUNTS))(
    "mirrors and exports with the embedded Postgres, for %s",
    { timeout: 300 * SECONDS },
    async ([name, id], context) => {
      skipWithoutInstall(context);
      const cwd = workFolder(name, id);
      const docmirror = (...args: string[]) => run("docmirror", args, { cwd, ...(id > 0 && { uid: id }) });
      await using service = await startService(SMALL);
      expect(await docmirror("sync", "--rate", "0", "--base-url", service.url)).toMatchObject({ code: 0 });
      expect(await docmirror("export", "--out", "csv", "--format", "csv")).toMatchObject({ code: 0 });
      expect(existsSync(join(cwd, "csv/fact_builds"))).toBe(true);
    },
  );
});

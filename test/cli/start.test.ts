import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { findBuiltProgram } from "../support/cli.ts";
import { createFolder } from "../support/folder.ts";

const SCRIPT = fileURLToPath(new URL("../../bin/docmirror.js", import.meta.url));
const isBuilt = findBuiltProgram() !== null;
const KB = 1000;
/** These serve pages too. */
const SERVERS = ["demo", "worker"];

/** The files that a command line loads, with their sizes in bytes; not those of Node itself. */
async function loadedBy(args: readonly string[]): Promise<{ path: string; bytes: number }[]> {
  using folder = createFolder("docmirror-start-");
  // Node writes down every script that it has run.
  const env = { ...process.env, NODE_V8_COVERAGE: folder.path };
  await promisify(execFile)(process.execPath, [SCRIPT, ...args], { env });
  const urls = readdirSync(folder.path).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(folder.at(name), "utf8")) as { result: { url: string }[] };
    return result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
  });
  const paths = [...new Set(urls)].map((url) => fileURLToPath(url));
  return paths.map((path) => ({ path, bytes: statSync(path).size }));
}

const sum = (files: readonly { bytes: number }[]): number =>
  files.reduce((total, { bytes }) => total + bytes, 0);

// The time to start follows from the code that is loaded, and this is the same on every machine. `npm run bench:start` measures the time.
describe.skipIf(!isBuilt)("what is loaded before the first line", () => {
  it("of the program's help is little, and from the bundle alone", async () => {
    const loaded = await loadedBy(["--help"]);
    expect(loaded.filter(({ path }) => path.includes("node_modules"))).toEqual([]);
    expect(sum(loaded)).toBeLessThan(260 * KB);
  });

  it.each(COMMANDS.map(({ name }) => name))("of %s leaves out what asks upstream", async (name) => {
    const loaded = await loadedBy([name, "--help"]);
    expect(sum(loaded)).toBeGreaterThan(200 * KB);
    expect(sum(loaded)).toBeLessThan((SERVERS.includes(name) ? 2700 : 2050) * KB);
    const texts = loaded.map(({ path }) => readFileSync(path, "utf8"));
    expect(texts.filter((text) => text.includes("UND_ERR_HEADERS_TIMEOUT"))).toEqual([]);
  });
});

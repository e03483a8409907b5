import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { findBuiltProgram } from "../support/cli.ts";

const SCRIPT = fileURLToPath(new URL("../../bin/docmirror.js", import.meta.url));
const isBuilt = findBuiltProgram() !== null;
const KB = 1000;
/** These serve pages too. */
const SERVERS = ["demo", "worker"];

/** The files that a command line loads, with their sizes in bytes; not those of Node itself. */
async function loadedBy(args: readonly string[]): Promise<{ path: string; bytes: number }[]> {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-start-"));
  try {
    // Node writes down every script that it has run.
    const env = { ...process.env, NODE_V8_COVERAGE: folder };
    await promisify(execFile)(process.execPath, [SCRIPT, ...args], { env });
    const urls = readdirSync(folder).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
        result: { url: string }[];
      };
      return result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
    });
    const paths = [...new Set(urls)].map((url) => fileURLToPath(url));
    return paths.map((path) => ({ path, bytes: statSync(path).size }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

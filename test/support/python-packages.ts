import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const INSTALL = fileURLToPath(new URL("install-packages.py", import.meta.url));
const INSTALL_MS = 900_000;

/** A Python of its own with packages, or why there is none. */
export type PythonPackages = { python: string; bin: string; packages: string } | { missing: string };

export const WITH_SPARK = "spark-requirements.txt";

/**
 * Installs the packages of a file beside this one from the package index into a folder below the user's cache,
 * where they stay for the next time: those of Spark take half a gigabyte.
 */
export async function installPackages(file = "requirements.txt"): Promise<PythonPackages> {
  const requirements = fileURLToPath(new URL(file, import.meta.url));
  const hash = createHash("sha256").update(await readFile(requirements));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folder = join(cache, "docmirror-tests", `python-${hash.digest("hex").slice(0, 16)}`);
  const bin = join(folder, "bin");
  const python = join(bin, "python");
  try {
    await run("python3", [INSTALL, folder, requirements], { timeout: INSTALL_MS });
    const { stdout } = await run(python, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
    return { python, bin, packages: stdout.trim() };
  } catch (error) {
    const { code, stderr = "", message } = error as Error & { code?: unknown; stderr?: string };
    if (code === "ENOENT") return { missing: "there is no python3" };
    const reason = stderr.trim().split("\n").at(-1) || message;
    return { missing: `pip cannot install the packages of the tests: ${reason}` };
  }
}

export async function whyNoJava(): Promise<string | null> {
  try {
    const { stderr } = await run("java", ["-version"], { timeout: 30_000 });
    const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
    return version >= 17 ? null : `Java 17 is needed, and this is ${stderr.split("\n")[0]}`;
  } catch {
    return "there is no Java, which Spark needs";
  }
}

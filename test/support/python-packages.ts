import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A Python of its own with packages, or why there is none. */
export type PythonPackages = { python: string; bin: string; packages: string } | { missing: string };

/** The engines that the files of an export are tested with. dbt 1.12 builds from a download that is no package. */
export const DBT_ENGINES = [
  "dbt-core==1.11.16",
  "dbt-adapters==1.24.5",
  "dbt-common==1.39.0",
  "dbt-duckdb==1.11.1",
  "duckdb==2.0.0",
  "dbt-spark==1.11.0",
  "pyspark==4.3.0",
];

/**
 * Installs packages from the package index into a folder below the user's cache, where they stay for the next time: those of Spark take half a
 * gigabyte. Needs Java too where `needsJava`.
 */
export async function installPackages(packages: readonly string[]): Promise<PythonPackages> {
  const name = createHash("sha256").update(packages.join("\n")).digest("hex").slice(0, 16);
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folder = join(cache, "docmirror-tests", `python-${name}`);
  const bin = join(folder, "bin");
  const installed = { python: join(bin, "python"), bin, packages: "" };
  const mark = join(folder, "installed");
  try {
    if (!(await stat(mark).catch(() => null))) {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await run("python3", ["-m", "venv", folder], { timeout: 60_000 });
      const pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
      // Without an index pip would try again for minutes.
      await run(installed.python, [...pip, "--retries", "1", "--timeout", "20", ...packages], {
        timeout: 900_000,
      });
      await writeFile(mark, "");
    }
    const { stdout } = await run(installed.python, [
      "-c",
      "import sysconfig; print(sysconfig.get_path('purelib'))",
    ]);
    return { ...installed, packages: stdout.trim() };
  } catch (error) {
    const { code, stderr = "", message } = error as Error & { code?: unknown; stderr?: string };
    if (code === "ENOENT") return { missing: "there is no python3" };
    return {
      missing: `pip cannot install ${packages.join(", ")}: ${stderr.trim().split("\n").at(-1) || message}`,
    };
  }
}

/** Why Spark cannot run here; null where it can. */
export async function whyNoJava(): Promise<string | null> {
  try {
    const { stderr } = await run("java", ["-version"], { timeout: 30_000 });
    const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
    return version >= 17 ? null : `Java 17 is needed, and this is ${stderr.split("\n")[0]}`;
  } catch {
    return "there is no Java, which Spark needs";
  }
}

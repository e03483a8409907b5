import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const PACKAGES = ["dlt[postgres]==1.31.*", "requests", "psycopg[binary]"];

/** A Python with the packages of the peers, which are in a folder of their own. */
export interface Python {
  /** The interpreter itself: the `python3` of a version manager is a script that starts it. */
  file: string;
  env: Record<string, string>;
  /** Such as `Python 3.11.7, dlt 1.31.0`. */
  description: string;
}

/** Installs the packages below a folder. Gives the reason, as one line, where Python or its package index is missing. */
export async function installPackages(folder: string): Promise<Python | { missing: string }> {
  const path = join(folder, "packages");
  const env = { PYTHONPATH: path, DLT_DATA_DIR: join(folder, "dlt"), RUNTIME__DLTHUB_TELEMETRY: "false" };
  const python = async (...args: string[]) =>
    (
      await promisify(execFile)("python3", args, { env: { ...process.env, ...env }, timeout: 600_000 })
    ).stdout.trim();
  try {
    const pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
    // Without an index pip would try again for minutes.
    await python(...pip, "--retries", "1", "--timeout", "15", "--target", path, ...PACKAGES);
    const version = await python("-c", "import dlt; print(dlt.__version__)");
    const file = await python("-c", "import sys; print(sys.executable)");
    return { file, env, description: `${await python("--version")}, dlt ${version}` };
  } catch (error) {
    const { code, stderr = "", message } = error as Error & { code?: unknown; stderr?: string };
    if (code === "ENOENT") return { missing: "there is no python3" };
    return { missing: `pip cannot install the packages: ${stderr.trim().split("\n").at(-1) || message}` };
  }
}

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What the Dockerfile and docker-compose.yml start from. */
const IMAGES = ["node:24-bookworm-slim", "debian:bookworm-slim", "postgres:18"];
const PULL_MS = 300_000;

/** Why containers cannot be tested here; null where they can. */
export async function whyNoContainers(): Promise<string | null> {
  try {
    await docker(["info"]);
    await docker(["compose", "version"]);
    for (const image of IMAGES)
      await docker(["image", "inspect", image]).catch(() => docker(["pull", "--quiet", image], {}, PULL_MS));
    return null;
  } catch (error) {
    return `Docker cannot be used: ${String(error).split("\n").filter(Boolean).at(-1)?.slice(0, 200)}`;
  }
}

/** Runs a command of Docker in the folder of the project, and gives its stdout. Throws where it fails. */
export async function docker(
  args: readonly string[],
  env: Record<string, string> = {},
  timeout = 60_000,
): Promise<string> {
  const { stdout } = await run("docker", args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    timeout,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.trim();
}

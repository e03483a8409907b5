import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What the Dockerfile and docker-compose.yml start from. */
const IMAGES = ["node:24-bookworm-slim", "debian:bookworm-slim", "postgres:18"];
let reason: Promise<string | null> | undefined;

/** Why containers cannot be tested here; null where they can. It looks once, and pulls nothing. */
export function whyNoContainers(): Promise<string | null> {
  reason ??= findReason();
  return reason;
}

async function findReason(): Promise<string | null> {
  const answers = (args: readonly string[]) =>
    docker(args, {}, 10_000).then(
      () => true,
      () => false,
    );
  if (!(await answers(["info"]))) return "Docker does not answer";
  if (!(await answers(["compose", "version"]))) return "Docker has no compose";
  for (const image of IMAGES)
    if (!(await answers(["image", "inspect", image]))) return `docker pull ${image} is needed first`;
  return null;
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

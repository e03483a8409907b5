import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { systemClock } from "../clock.ts";
import { StoreError } from "../errors.ts";

const POLL_MS = 50;
/** Starting and stopping take seconds; a recovery after a crash may take minutes. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Runs `fn` while no other process runs one under the same lock file. A lock whose process is gone is taken over.
 * Waits at most ten minutes, then throws StoreError; rejects with the signal's reason when aborted.
 */
export async function withLockFile<T>(
  path: string,
  signal: AbortSignal | undefined,
  fn: () => Promise<T>,
): Promise<T> {
  const mine = `${process.pid} ${processStart(process.pid) ?? "-"} ${randomBytes(6).toString("hex")}\n`;
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  const giveUpAt = Date.now() + PATIENCE_MS;
  await writeFile(draft, mine, { mode: 0o644 });
  try {
    // A link appears with its content at once: nobody ever reads a half-written lock.
    while (!(await claim(draft, path))) {
      const holder = await readFile(path, "utf8").catch(() => undefined);
      if (holder !== undefined && isGone(holder)) {
        await removeStale(path, holder);
        continue;
      }
      if (Date.now() > giveUpAt) {
        throw new StoreError(
          `could not lock ${path}: process ${holder?.split(" ")[0]} has held it for ten minutes`,
          {
            hint: "end that process, or remove the file if it is none of docmirror's",
          },
        );
      }
      await systemClock.sleep(POLL_MS, signal);
    }
  } finally {
    await rm(draft, { force: true });
  }
  try {
    return await fn();
  } finally {
    const holder = await readFile(path, "utf8").catch(() => undefined);
    if (holder === mine) await rm(path, { force: true });
  }
}

async function claim(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Two may find the same stale lock, and the slower one must not remove the new lock of the faster one. */
async function removeStale(path: string, judged: string): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await readFile(aside, "utf8")) !== judged) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

function isGone(holder: string): boolean {
  const [pidText, startedAt] = holder.trim().split(" ");
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0) return true;
  if (!isAlive(pid)) return true;
  // The number may belong to another process by now, which then has another time of start.
  const actual = processStart(pid);
  return actual !== undefined && startedAt !== "-" && actual !== startedAt;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Clock ticks since boot, where the system tells (Linux); with the boot's id, since ticks repeat. */
function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // The name in brackets may hold anything; fields are counted from behind it.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? undefined : `${ticks}@${boot}`;
  } catch {
    return undefined;
  }
}

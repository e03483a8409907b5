import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { systemClock } from "../../base/clock.ts";
import { StoreError } from "../../base/errors.ts";

const POLL_MS = 50;
/** A start or a stop takes seconds. A recovery after a crash may take minutes. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Runs `fn` while no other process runs under the same lock file. A lock of a dead process is taken over.
 * Throws StoreError after ten minutes of waiting. Rejects with the signal's reason when aborted.
 */
export async function withLockFile<T>(path: string, signal: AbortSignal | undefined, fn: () => Promise<T>) {
  const mine = `${process.pid} ${processStart(process.pid) ?? "-"} ${randomBytes(6).toString("hex")}\n`;
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  const giveUpAt = Date.now() + PATIENCE_MS;
  await writeFile(draft, mine, { mode: 0o644 });
  try {
    // A link appears together with its content, so no process ever reads a half-written lock.
    while (!(await claim(draft, path))) {
      const holder = await readFile(path, "utf8").catch(() => undefined);
      if (holder !== undefined && isGone(holder)) {
        await removeStale(path, holder);
        continue;
      }
      if (Date.now() > giveUpAt) {
        throw new StoreError(
          `could not lock ${path}: process ${holder?.split(" ")[0]} has held it for ten minutes`,
          { hint: "end that process, or remove the file if that process is not docmirror" },
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

/** Two processes may find the same stale lock. The slower one must not remove the new lock of the faster one. */
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
  // The pid may belong to another process by now, which has another start time.
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

/** The start in clock ticks since boot, with the id of the boot, because ticks repeat. On Linux alone. */
function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // The name in brackets may contain anything, so fields are counted from its end.
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? undefined : `${ticks}@${boot}`;
  } catch {
    return undefined;
  }
}

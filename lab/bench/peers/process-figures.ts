/** What processes cost, read from /proc: Linux alone has it. */
import { readFileSync } from "node:fs";

const TICKS_A_SECOND = 100;

/** Seconds of CPU of the children of this process that have ended, and of theirs. */
export function endedChildrenCpu(): number {
  const { ended } = cpuOf("self");
  return ended;
}

/** Seconds of CPU of a process and of all its children, those that have ended too. */
export function treeCpu(pid: number): number {
  return [...treeOf(pid)].reduce((sum, one) => {
    const { own, ended } = cpuOf(one);
    return sum + own + ended;
  }, 0);
}

/** The resident memory of a process and all its children now, in MB. */
export function treeMemory(pid: number): number {
  return [...treeOf(pid)].reduce((sum, one) => {
    const [, kB = 0] = /VmRSS:\s+(\d+)/.exec(read(`/proc/${one}/status`)) ?? [];
    return sum + Number(kB) / 1024;
  }, 0);
}

function* treeOf(pid: number): Generator<number> {
  yield pid;
  for (const child of read(`/proc/${pid}/task/${pid}/children`).split(" ")) {
    if (child !== "") yield* treeOf(Number(child));
  }
}

function cpuOf(pid: number | "self"): { own: number; ended: number } {
  // The name of the program comes second, in brackets, and may hold blanks.
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { own: (user + system) / TICKS_A_SECOND, ended: (endedUser + endedSystem) / TICKS_A_SECOND };
}

/** Empty for a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

import { spawnSync } from "node:child_process";

/** Whether this machine has promtool, which Debian's package `prometheus` brings. */
export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool) {
  process.stderr.write("promtool is not here (Debian: prometheus), so the tests that need it are skipped\n");
}

/** Runs promtool. All that it wrote, and 0 where it found nothing wrong. */
export function promtool(args: readonly string[], input = ""): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8" });
  return { code: status, output: `${stdout}${stderr}` };
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killBackups } from "../../lab/backups/killed-backups.ts";
import { SMALL } from "../support/quick-world.ts";

// `npm run test:backups` does the same with 100,000 builds.
it("a backup or a restore that is killed at any moment loses nothing, while the worker runs", {
  tags: ["long"],
  timeout: 300_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-killed-"));
  const seed = Date.now() % 100_000;
  try {
    const { faults } = await killBackups({ folder, world: SMALL, kills: 3, seed });
    expect({ seed, faults }).toEqual({ seed, faults: [] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

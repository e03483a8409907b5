/** @module-tag long */
import { expect, it } from "vitest";
import { killBackups } from "../../lab/backups/killed-backups.ts";
import { createFolder } from "../support/folder.ts";
import { SMALL } from "../support/quick-world.ts";

// `npm run test:backups` does the same with 100,000 builds.
it("a backup or a restore that is killed at any moment loses nothing, while the worker runs", {
  timeout: 300_000,
}, async () => {
  using folder = createFolder("docmirror-killed-");
  const seed = Date.now() % 100_000;
  const { faults } = await killBackups({ folder: folder.path, world: SMALL, kills: 1, seed });
  expect({ seed, faults }).toEqual({ seed, faults: [] });
});

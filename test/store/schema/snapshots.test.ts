import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { readMigrations } from "../../../src/store/migrate/migration-ledger.ts";

const META = new URL("../../../migrations/meta/", import.meta.url);

test("the newest migration alone has a snapshot of the schema: the generator compares with no other", () => {
  const newest = readMigrations().at(-1)?.tag.split("_")[0];
  const snapshots = readdirSync(META).filter((name) => name.endsWith("_snapshot.json"));
  expect(snapshots).toEqual([`${newest}_snapshot.json`]);
});

import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readMigrations } from "../../../src/store/migrate/migration-ledger.ts";
import { findUnbearable } from "../../support/additive.ts";

describe("each migration", () => {
  test.each(readMigrations())("$tag says whether it is additive", ({ statements }) => {
    expect(statements[0]).toMatch(/^-- (not )?additive: \S/);
  });

  test("that is additive has only statements that an older program bears", () => {
    const additive = readMigrations().filter((migration) => migration.additive);
    expect(additive.flatMap(({ statements }) => findUnbearable(statements))).toEqual([]);
  });
});

test("the newest migration alone has a snapshot of the schema: the generator compares with no other", () => {
  const newest = readMigrations().at(-1)?.tag.split("_")[0];
  const names = readdirSync(new URL("../../../migrations/meta/", import.meta.url));
  expect(names.filter((name) => name.endsWith("_snapshot.json"))).toEqual([`${newest}_snapshot.json`]);
});

describe("an older program", () => {
  test.each([
    `CREATE TABLE "sync"."a" ("id" bigint PRIMARY KEY NOT NULL, CONSTRAINT "a_id" CHECK ("sync"."a"."id" > 0));`,
    `CREATE TABLE "sync"."a" ("id" bigint);CREATE UNIQUE INDEX "a_i" ON "sync"."a" USING btree ("id");`,
    `CREATE TABLE "sync"."a" ("id" text);INSERT INTO "sync"."a" VALUES ('x; drop table y');`,
    `ALTER TABLE "mirror"."builds" ADD COLUMN "note" text;`,
    `ALTER TABLE "mirror"."builds" ADD COLUMN "seen" timestamp(6) with time zone DEFAULT now() NOT NULL;`,
    `ALTER TABLE "mirror"."builds" ADD COLUMN "names" text[] DEFAULT '{}'::text[] NOT NULL;`,
    `CREATE INDEX "builds_note" ON "mirror"."builds" USING btree ("note") WHERE deleted_at is null;`,
    `ALTER TABLE "report"."dim_versions" ALTER CONSTRAINT "x" DEFERRABLE INITIALLY IMMEDIATE;`,
    `COMMENT ON COLUMN "mirror"."builds"."note" IS 'A note.';`,
    "-- only a comment; with a semicolon",
  ])("bears %s", (statement) => {
    expect(findUnbearable([statement])).toEqual([]);
  });

  test.each([
    `ALTER TABLE "mirror"."builds" ADD COLUMN "note" text NOT NULL;`,
    `ALTER TABLE "mirror"."builds" ADD COLUMN "note" text DEFAULT gen_random_uuid();`,
    `ALTER TABLE "mirror"."builds" ADD COLUMN "note" text REFERENCES "mirror"."users"("id");`,
    `ALTER TABLE "mirror"."builds" ADD COLUMN "note" text GENERATED ALWAYS AS (id) STORED;`,
    `ALTER TABLE "mirror"."builds" ADD COLUMN "note" text, DROP COLUMN "type";`,
    `ALTER TABLE "mirror"."builds" ADD CONSTRAINT "x" CHECK (id <> '');`,
    `ALTER TABLE "mirror"."builds" ALTER COLUMN "id" TYPE bigint;`,
    `ALTER TABLE "report"."dim_versions" ALTER CONSTRAINT "x" DEFERRABLE INITIALLY DEFERRED;`,
    `ALTER TABLE "mirror"."builds" RENAME COLUMN "success" TO "succeeded";`,
    `CREATE UNIQUE INDEX "builds_note" ON "mirror"."builds" USING btree ("note");`,
    `CREATE TABLE "sync"."a" ("id" text REFERENCES "mirror"."users"("id"));`,
    `CREATE TABLE "sync"."a" ("id" text);ALTER TABLE "sync"."a" ADD CONSTRAINT "x" FOREIGN KEY ("id") REFERENCES "mirror"."users"("id");`,
    `CREATE TRIGGER "t" AFTER INSERT ON "mirror"."builds" EXECUTE FUNCTION f();`,
    `CREATE FUNCTION "sync"."f"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;`,
    `UPDATE "mirror"."builds" SET "note" = '';`,
    `INSERT INTO "sync"."lists" VALUES ('x', 1);`,
    `DROP TABLE "sync"."lists";`,
    `COMMENT ON COLUMN "mirror"."builds"."note" IS 'x'; DROP TABLE "sync"."lists";`,
    `VACUUM FULL;`,
  ])("does not bear %s", (statement) => {
    expect(findUnbearable([statement])).not.toEqual([]);
  });
});

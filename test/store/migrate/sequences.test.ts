import { expect, test } from "vitest";
import { findSequenceRepairs } from "../../../src/store/migrate/sequences.ts";
import { runCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";

test("a sequence that is behind its table, as after logical replication, is found, named by doctor, and set by what it says", async () => {
  await using database = await createTestDatabase();
  const { sql } = database;
  expect(await findSequenceRepairs(sql)).toEqual([]);
  await sql.unsafe(`insert into sync.runs (id, kind, status, started_at, finished_at, heartbeat_at, pid, host)
    overriding system value values (41, 'full', 'succeeded', now(), now(), now(), 1, '')`);
  const repair = "select setval('sync.runs_id_seq', 41)";
  expect(await findSequenceRepairs(sql)).toEqual([repair]);
  const doctor = await runCli(["doctor"], { env: { DATABASE_URL: database.url } });
  expect(doctor.stdout.replaceAll(/\s+/g, " ")).toContain(`run as the owner: ${repair}`);
  await sql.unsafe(repair);
  expect(await findSequenceRepairs(sql)).toEqual([]);
});

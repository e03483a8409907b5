import { expect, test } from "vitest";
import { connect } from "../../../src/store/connection/connect.ts";
import { findPlace, notePlace } from "../../../src/store/ledger/database-place.ts";
import { openRun } from "../../support/leases.ts";
import { createRole } from "../../support/roles.ts";
import { useDatabase } from "../../support/use-database.ts";

const database = useDatabase();
const { sql } = database;

test("what a server refuses to say of its place is unknown, and the rest is not", async () => {
  const { runId } = await openRun(sql, "full", "2024-05-15T01:00:00Z");
  const whole = await findPlace(sql);
  expect(whole).toMatchObject({ isKnown: false, movedAfter: null });
  await notePlace(sql, runId, whole);
  await sql`revoke execute on function pg_control_system() from public`;
  const rights = "grant usage on schema sync to ROLE; grant select on all tables in schema sync to ROLE;";
  await using role = await createRole(database, rights);
  const own = connect(role.url, { applicationName: "docmirror test", max: 1 });
  try {
    expect(await findPlace(own)).toEqual({
      place: { ...whole.place, server: null },
      isKnown: true,
      movedAfter: null,
    });
  } finally {
    await own.end();
  }
});

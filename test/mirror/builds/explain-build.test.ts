import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ExplainedBuild, explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createToldBuild } from "../../support/told-build.ts";

/** A fresh build of which there is much to tell, for each test. */
const told = (name: string, body: (sql: Sql) => Promise<void>) =>
  test(name, async () => {
    await using database = await createToldBuild();
    await body(database.sql);
  });
const ZONE = "America/Chicago";

const minute = (past: number) => `2025-06-02 10:0${past}:00+00`;
/** The detail was asked for, by a round that began then. */
const sighting = (id: number, past: number, observed_at: string | null = null) => ({
  asked_at: minute(past),
  observed_at,
  request: "/api/v1/build/42/",
  run: { id, kind: "watch", started_at: minute(past) },
});

async function explain(sql: Sql, id = "42", zone = ZONE): Promise<ExplainedBuild> {
  const { build } = await explainBuild(sql, id, zone);
  if (build === null) throw new Error(`there is no build ${id}`);
  return build;
}

describe("explainBuild", () => {
  told("tells of each state who saw it first and who saw the one before last", async (sql) => {
    const { transitions } = await explain(sql);
    expect(transitions.map(({ from_state, to_state }) => [from_state, to_state])).toEqual([
      [null, "triggered"],
      ["triggered", "building"],
      ["building", "triggered"],
      ["triggered", "finished"],
    ]);
    expect(transitions[1]).toEqual({
      seq: 2,
      from_state: "triggered",
      to_state: "building",
      rule: "last_seen",
      anomalies: [],
      not_before: minute(2),
      not_after: "2025-06-02 10:03:00.25+00",
      width_ms: 60_250,
      before_date_ms: null,
      first_seen: sighting(4, 3, "2025-06-02 10:03:00.25+00"),
      predecessor_last_seen: sighting(3, 2),
      // Entered between 10:02:00 and 10:03:00.25, left between 10:03:00 and 10:04:01.
      lasted: { least_ms: 0, most_ms: 121_000 },
    });
    const lasted = { least_ms: 119_000, most_ms: 241_000 };
    // The run of the last one was pruned since.
    const pruned = { run: { id: 99, kind: null, started_at: null } };
    expect(transitions).toMatchObject([
      { predecessor_last_seen: null, before_date_ms: 0, lasted: { least_ms: 90_000 } },
      {},
      { anomalies: ["backward"], lasted },
      { lasted: null, first_seen: pruned },
    ]);
  });

  told("bounds how long it took from the trigger to the last finish", async (sql) => {
    // Triggered between 10:00:00 and 10:00:30, finished between 10:06:00 and 10:07:01.
    expect((await explain(sql)).duration).toEqual({ least_ms: 330_000, most_ms: 421_000 });
    await sql`update mirror.build_transitions set not_before = '-infinity', rule = 'unknown', anomaly = 'no_date, clock' where seq = 1`;
    const { duration, transitions } = await explain(sql);
    expect(duration).toEqual({ least_ms: 330_000, most_ms: null });
    expect(transitions[0]).toMatchObject({
      not_before: "-infinity",
      width_ms: null,
      anomalies: ["no_date", "clock"],
      before_date_ms: null,
    });
    await sql`update mirror.builds set state = 'building'`;
    expect((await explain(sql)).duration).toBeNull();
  });

  test("has the true duration within its bounds, wherever the moments lie", async () => {
    await using told = await createToldBuild();
    const moment = fc.integer({ min: 0, max: 10_000 });
    await told.sql`delete from mirror.build_transitions where seq > 2`;
    const six = fc.tuple(moment, moment, moment, moment, moment, moment);
    const property = fc.asyncProperty(six, async (moments) => {
      const sorted = moments.toSorted((a, b) => a - b) as typeof moments;
      const [dated, made, seen, last, finished, found] = sorted;
      const at = (ms: number) => new Date(Date.UTC(2025, 5, 2) + ms).toISOString();
      await told.sql`update mirror.build_transitions set not_before = ${at(dated)}, not_after = ${at(seen)} where seq = 1`;
      await told.sql`update mirror.build_transitions set not_before = ${at(last)}, not_after = ${at(found)}, to_state = 'finished' where seq = 2`;
      const { duration } = await explain(told.sql);
      expect(duration?.least_ms).toBeLessThanOrEqual(finished - made);
      expect(duration?.most_ms).toBeGreaterThanOrEqual(finished - made);
    });
    await fc.assert(property, { numRuns: 15 });
  });

  told("tells by how much a bound lies before the date as it is read now", async (sql) => {
    expect((await explain(sql, "42", "Etc/UTC")).transitions[0]?.before_date_ms).toBe(-5 * 3_600_000);
    await sql`update mirror.build_transitions set not_before = not_before - interval '1.5 s' where seq = 1`;
    expect((await explain(sql)).transitions[0]?.before_date_ms).toBe(1500);
  });

  told("reads the date in the zone, both ways where summer time leaves two", async (sql) => {
    expect((await explain(sql)).date).toBe("2025-06-02T05:00:00");
    await sql`update mirror.builds set date = '2025-11-02 01:30:00'`;
    expect((await explain(sql)).date_read).toEqual({
      zone: ZONE,
      earliest: "2025-11-02 06:30:00+00",
      latest: "2025-11-02 07:30:00+00",
      hour: "repeated",
    });
    await sql`update mirror.builds set date = null, extra = '{"values": {"date": "yesterday"}}'`;
    expect(await explain(sql)).toMatchObject({ date: "yesterday", date_read: null });
  });

  told("tells of an open build when it was last seen, and whether it vanished", async (sql) => {
    expect((await explain(sql)).open).toBeNull();
    await sql`insert into sync.open_builds (build_id, since, seen_at, run_id, request, vanished_at)
      values ('42', '2025-06-02 10:04:01Z', '2025-06-02 10:08Z', 9, '/api/v1/build/42/', '2025-06-02 10:08:02Z')`;
    expect((await explain(sql)).open).toEqual({
      since: "2025-06-02 10:04:01+00",
      last_seen: sighting(9, 8),
      vanished_at: "2025-06-02 10:08:02+00",
    });
  });

  told("does not hold a build's state for over when its detail was away", async (sql) => {
    await sql`update mirror.build_transitions set to_state = 'vanished' where seq = 3`;
    const { transitions } = await explain(sql);
    // Entered between 10:02:00 and 10:03:00.25, finished between 10:06:00 and 10:07:01.
    expect(transitions[1]?.lasted).toEqual({ least_ms: 179_750, most_ms: 301_000 });
  });

  told("tells where its references lead, and why one does not", async (sql) => {
    const project = {
      field: "project",
      uri: "/api/v1/project/7/",
      status: "found",
      id: "7",
      slug: "pip",
      deleted_at: null,
      checked_at: null,
    };
    const version = {
      field: "version",
      uri: "/api/v1/version/9/",
      status: "gone",
      id: null,
      slug: null,
      deleted_at: null,
      checked_at: minute(5),
    };
    expect((await explain(sql)).references).toEqual([project, version]);
    await sql`delete from mirror.unresolved_references`;
    await sql`update mirror.builds set project_uri = null, project_id = null`;
    expect((await explain(sql)).references.map(({ status }) => status)).toEqual(["none", "pending"]);
  });

  told("has its changes, deletion and restoration, and those of no other build", async (sql) => {
    const { changes } = await explain(sql);
    expect(changes.map(({ kind }) => kind)).toEqual(["updated", "updated", "deleted", "restored"]);
    const expected = { state: "finished", output: { md5: "900150983cd24fb0d6963f7d28e17f72", bytes: 3 } };
    expect(changes[1]?.after).toEqual(expected);
  });

  told("says from when on its changes are here, once older ones were pruned", async (sql) => {
    expect((await explain(sql)).changes_pruned_before).toBeNull();
    const prune = (horizon: string) =>
      sql`insert into sync.prunings (horizon, pruned_at, changes, runs) values (${horizon}, now(), 3, 0)`;
    await prune("2025-06-01T00:00:00Z");
    expect((await explain(sql)).changes_pruned_before).toBeNull();
    await prune("2025-06-05T00:00:00Z");
    expect((await explain(sql)).changes_pruned_before).toBe("2025-06-05 00:00:00+00");
  });

  told("of a build that was never stored has what is in quarantine", async (sql) => {
    expect(await explainBuild(sql, "43", ZONE)).toEqual({ build: null, quarantine: [] });
    expect(await explainBuild(sql, "44", ZONE)).toMatchObject({
      build: null,
      quarantine: [{ run_id: 4, reason: "could not store build 44", resolved_at: null }],
    });
  });
});

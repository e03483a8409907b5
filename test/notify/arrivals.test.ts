/** Notices of builds that stop arriving, and of trouble of the platform. */
import { beforeEach, describe, expect, it } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { addLateBuild, addLook, QUIET_NIGHT } from "../support/quiet-night.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { type Noted, useNotices } from "./noted.ts";

const { database, sql, look: lookAt } = useNotices();
let runs: number;
beforeEach(async () => {
  runs = 0;
  await sql.unsafe(QUIET_NIGHT);
});

/** The mirror looks at `at`, and notices are looked for then, or later. */
async function look(at: string, noticedAt = at): Promise<Noted[]> {
  runs += 1;
  await addLook(sql, runs, at);
  await refreshReport(database.sql, REPORT_SETTINGS);
  return lookAt({ staleAfterMs: 1e12, now: noticedAt });
}

const typesOf = (noted: readonly Noted[]) => noted.map(({ type }) => type);

describe("builds that stop arriving", () => {
  it("are noted once, when ten were usual and the mirror has looked, and so is the next build", async () => {
    await look("2026-03-10T22:00:00Z");
    expect(typesOf(await look("2026-03-11T01:40:00Z"))).toEqual(["platform.trouble"]);
    expect(await look("2026-03-11T02:20:00Z", "2026-03-11T02:26:00Z")).toEqual([]);
    expect(await look("2026-03-11T02:26:00Z")).toMatchObject([
      {
        subject: expect.stringMatching(/^builds\/quiet\/\d+$/),
        type: "builds.quiet",
        data: { last_build_at: "2026-03-11T00:10:00+00:00", gap_s: 8160, longest_gap_s: 600, usual: 13 },
      },
    ]);
    expect(await look("2026-03-11T02:30:00Z")).toEqual([]);
    // It is not known whether they come while nobody looks.
    await addLateBuild(sql, "9000", "2026-03-11 02:35");
    expect(await look("2026-03-11T02:40:00Z", "2026-03-11T02:50:00Z")).toEqual([]);
    expect(await look("2026-03-11T02:51:00Z")).toMatchObject([
      {
        type: "builds.resumed",
        data: {
          summary: "Builds come again: none came from 2026-03-11 00:10 UTC to 2026-03-11 02:35 UTC.",
          quiet_since: "2026-03-11T00:10:00+00:00",
          resumed_at: "2026-03-11T02:35:00+00:00",
          gap_s: 8700,
        },
      },
    ]);
    expect(await look("2026-03-11T02:52:00Z")).toEqual([]);
  });

  it("are no news where they had stopped before the first look, but their end is", {
    tags: ["long"],
  }, async () => {
    expect(await look("2026-03-11T09:00:00Z")).toEqual([]);
    expect(await look("2026-03-11T10:00:00Z")).toEqual([]);
    // After weeks nothing is expected any more, and a build is still the end.
    expect(await look("2026-04-20T10:00:00Z")).toEqual([]);
    await addLateBuild(sql, "9000", "2026-04-20 10:05");
    expect(typesOf(await look("2026-04-20T10:06:00Z"))).toEqual(["builds.resumed"]);
  });

  it("make two notices of two silences, also where nobody looked in between", {
    tags: ["long"],
  }, async () => {
    await look("2026-03-11T00:30:00Z");
    expect(typesOf(await look("2026-03-11T02:20:00Z"))).toEqual(["builds.quiet"]);
    await addLateBuild(sql, "9000", "2026-03-11 02:35");
    expect(typesOf(await look("2026-03-11T10:00:00Z"))).toEqual(["builds.resumed", "builds.quiet"]);
  });
});

describe("trouble of the platform", () => {
  it("is one notice as long as no three hours lie between", async () => {
    const fail = (id: number, at: string) => sql`
        insert into mirror.builds (id, date, state, success, type, project_id, first_seen_at, changed_at, record_hash)
        select (${id}::int + project)::text, ${at}, 'finished', false, 'html', project::text, ${`${at}Z`}, '2026-02-01Z', ''
        from generate_series(1, 10) as project`;
    await sql`insert into sync.service (base_url, resources, noted_at) values ('https://docs.example.org', '{}', now())`;
    await look("2026-03-10T20:00:00Z");
    const [trouble] = await look("2026-03-11T00:10:00Z");
    expect(trouble).toMatchObject({
      subject: "platform/2026-03-10T23",
      data: {
        service: "docs.example.org",
        since: "2026-03-10T23:00:00+00:00",
        looked_at: "2026-03-11T00:10:00+00:00",
        hour: "2026-03-10T23:00:00+00:00",
        projects: 10,
        projects_failing: 10,
        failed: 10,
      },
    });
    await fail(9000, "2026-03-11 00:40");
    // Hours are computed anew when that is cheap enough.
    const refreshHours = () => sql`update rollup.state set definition = ''`;
    await refreshHours();
    expect(await look("2026-03-11T00:50:00Z")).toEqual([]);
    const at = sql`'2026-03-11 00:50Z'::timestamptz`;
    expect(await sql`select since, hour, until from report.platform_trouble(${at})`).toEqual([
      {
        since: "2026-03-10 23:00:00+00",
        hour: "2026-03-11 00:00:00+00",
        until: "2026-03-11 00:50:00+00",
      },
    ]);
    expect(await sql`select from report.platform_trouble(${at} + interval '4 hours')`).toEqual([]);
    await fail(9100, "2026-03-11 04:30");
    await refreshHours();
    expect(typesOf(await look("2026-03-11T04:35:00Z"))).toContain("platform.trouble");
  });
});

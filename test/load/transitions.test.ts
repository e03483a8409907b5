import { describe, expect, test } from "vitest";
import { createLocalDates } from "../../src/simulate/local-dates.ts";
import { type Loading, setUpLoading } from "../support/loading.ts";
import { fingerprint } from "../support/stored-mirror.ts";
import { wireBuild } from "../support/wire-records.ts";

const DATE = "2024-05-15T11:00:00.123456";
const CREATED = "2024-05-15 11:00:00.123456+00";

async function see(loading: Loading, at: string, over: Record<string, unknown>) {
  const { transitions } = await loading.load("build", [wireBuild("1", { date: DATE, ...over })], { at });
  return transitions;
}

const stored = ({ sql }: Loading) => sql`
  select seq, from_state as "from", to_state as "to", not_before, not_after, anomaly
  from mirror.build_transitions order by build_id, seq`;

describe("a build's states", () => {
  test.each([
    "triggered",
    "building",
    "finished",
    "cloning",
    "",
  ])("are kept from the first sight on, whichever it is: %j", async (state) => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state });
    expect(await stored(loading)).toEqual([
      {
        seq: 1,
        from: null,
        to: state,
        not_before: CREATED,
        not_after: "2024-05-15 12:00:00+00",
        anomaly: null,
      },
    ]);
  });

  test("are entered between their predecessor's last sight and their own first", async () => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "building" });
    await see(loading, "2024-05-15T12:02:00.000Z", { state: "finished", success: false });
    expect(await stored(loading)).toEqual([
      {
        seq: 1,
        from: null,
        to: "triggered",
        not_before: CREATED,
        not_after: "2024-05-15 12:00:00+00",
        anomaly: null,
      },
      {
        seq: 2,
        from: "triggered",
        to: "building",
        not_before: "2024-05-15 12:00:00+00",
        not_after: "2024-05-15 12:01:00+00",
        anomaly: null,
      },
      {
        seq: 3,
        from: "building",
        to: "finished",
        not_before: "2024-05-15 12:01:00+00",
        not_after: "2024-05-15 12:02:00+00",
        anomaly: null,
      },
    ]);
  });

  test("may be skipped", async () => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "finished" });
    expect((await stored(loading)).map(({ to, anomaly }) => [to, anomaly])).toEqual([
      ["triggered", null],
      ["finished", null],
    ]);
  });

  test("add nothing when the state is the same though the build changed", async () => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    expect(await see(loading, "2024-05-15T12:01:00.000Z", { state: "building", output: "more" })).toBe(0);
    expect(await stored(loading)).toHaveLength(1);
  });

  test("are kept when they move backwards, and the anomaly says so", async () => {
    await using loading = await setUpLoading();
    for (const [minute, state] of ["finished", "triggered", "building", "triggered"].entries())
      await see(loading, `2024-05-15T12:0${minute}:00.000Z`, { state });
    expect((await stored(loading)).map(({ seq, to, anomaly }) => [seq, to, anomaly])).toEqual([
      [1, "finished", null],
      [2, "triggered", "backward"],
      [3, "building", null],
      [4, "triggered", "backward"],
    ]);
  });

  test("that are unknown, or none, are kept as they are", async () => {
    await using loading = await setUpLoading();
    for (const [minute, state] of ["triggered", "cloning", null, "building", 7].entries())
      await see(loading, `2024-05-15T12:0${minute}:00.000Z`, { state });
    expect((await stored(loading)).map(({ from, to, anomaly }) => [from, to, anomaly])).toEqual([
      [null, "triggered", null],
      ["triggered", "cloning", null],
      ["cloning", null, null],
      [null, "building", null],
      ["building", null, null],
    ]);
  });

  test("of a build without a date begin at any time before", async () => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { date: null });
    await see(loading, "2024-05-15T12:01:00.000Z", { date: null, state: "building" });
    expect((await stored(loading)).map(({ not_before, anomaly }) => [not_before, anomaly])).toEqual([
      ["-infinity", "no_date"],
      ["2024-05-15 12:00:00+00", null],
    ]);
  });

  test("never begin after they were seen: a date in the future is cut and named", async () => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { date: "9999-12-31T23:59:59.999999" });
    // Our own clock went back.
    await see(loading, "2024-05-15T11:30:00.000Z", { state: "building" });
    expect(await stored(loading)).toMatchObject([
      { not_before: "2024-05-15 12:00:00+00", not_after: "2024-05-15 12:00:00+00", anomaly: "clock" },
      { not_before: "2024-05-15 11:30:00+00", not_after: "2024-05-15 11:30:00+00", anomaly: "clock" },
    ]);
  });

  test.each<[string | null, string, string]>([
    [
      "2024-05-15T01:00:00.000000Z",
      "2024-05-15 01:00:00+00",
      "the whole walk that began since, in which it was there",
    ],
    [
      "2024-05-14T01:00:00.000000Z",
      "2024-05-14 12:00:00+00",
      "its last sight, when no whole walk began since",
    ],
    [null, "2024-05-14 12:00:00+00", "its last sight, when there was no whole walk"],
  ])("with a whole walk at %s are later than %s: %s", async (lastWholeWalkAt, not_before) => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-14T12:00:00.000Z", { date: "2024-05-14T11:00:00", state: "triggered" });
    loading.nextRun({ lastWholeWalkAt });
    await see(loading, "2024-05-15T12:00:00.000Z", { date: "2024-05-14T11:00:00", state: "finished" });
    expect((await stored(loading))[1]).toMatchObject({ not_before, not_after: "2024-05-15 12:00:00+00" });
  });

  test("at first sight have nothing to do with whole walks", async () => {
    await using loading = await setUpLoading({ lastWholeWalkAt: "2024-05-15T11:30:00Z" });
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "building" });
    expect(await stored(loading)).toMatchObject([{ not_before: CREATED }]);
  });

  test("are not written twice when the same is seen again", async () => {
    await using loading = await setUpLoading();
    await see(loading, "2024-05-15T12:00:00.000Z", { state: "triggered" });
    await see(loading, "2024-05-15T12:01:00.000Z", { state: "building" });
    const before = await fingerprint(loading.sql);
    for (const at of ["2024-05-15T12:01:00.000Z", "2024-05-15T12:05:00.000Z"])
      expect(await see(loading, at, { state: "building" })).toBe(0);
    expect(await fingerprint(loading.sql)).toEqual(before);
  });
});

describe("dates in America/Chicago", () => {
  test.each([
    ["2024-01-15T12:00:00", "2024-01-15 18:00:00+00", "winter"],
    ["2024-07-15T12:00:00", "2024-07-15 17:00:00+00", "summer"],
    ["2024-03-10T01:59:59.999999", "2024-03-10 07:59:59.999999+00", "before the skipped hour"],
    ["2024-03-10T02:30:00", "2024-03-10 08:30:00+00", "in the skipped hour, as before it"],
    ["2024-03-10T03:00:00", "2024-03-10 08:00:00+00", "behind the skipped hour"],
    ["2024-11-03T00:59:59.999999", "2024-11-03 05:59:59.999999+00", "before the repeated hour"],
    ["2024-11-03T01:30:00", "2024-11-03 06:30:00+00", "in the repeated hour: the first of the two"],
    ["2024-11-03T02:00:00", "2024-11-03 08:00:00+00", "behind the repeated hour"],
  ])("%s is %s, %s", async (date, not_before) => {
    await using loading = await setUpLoading({ sourceTimezone: "America/Chicago" });
    await see(loading, "2025-01-01T00:00:00.000Z", { date });
    expect(await stored(loading)).toMatchObject([{ not_before, anomaly: null }]);
  });

  test("never come out later than the moment that the service meant", async () => {
    await using loading = await setUpLoading({ sourceTimezone: "America/Chicago" });
    const dates = createLocalDates("America/Chicago");
    const created = Array.from({ length: 96 }, (_, step) => Date.UTC(2024, 10, 2, 18) + step * 900_000);
    const builds = created.map((at, id) =>
      wireBuild(String(id), { date: new Date(dates.toLocal(at * 1000) / 1000).toISOString().slice(0, 19) }),
    );
    await loading.load("build", builds, { at: "2025-01-01T00:00:00.000Z" });
    const rows = await loading.sql`select build_id, not_before from mirror.build_transitions`;
    expect(rows).toHaveLength(96);
    const late = rows.filter(
      ({ build_id, not_before }) => Date.parse(not_before) > Number(created[build_id]),
    );
    expect(late).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { createFigureRegistry, type Figures } from "../../../src/base/metrics/figures.ts";
import { samplesOf, seriesOf } from "../../support/alert-firings.ts";

const EMPTY: Figures = {
  lists: [],
  otherSchemaChanges: 0,
  kinds: [],
  failedInARow: [],
  arrivals: { isQuiet: null, lastBuildAt: null },
  openBuilds: [],
  hasLeader: null,
  isLeader: null,
  notices: { waiting: 0, oldestWaitingAt: null, givenUp: 0 },
};
const textOf = (figures: Figures | null, isUp = true) => createFigureRegistry(isUp, figures).metrics();

describe("figures", () => {
  it("are only that the database is away while it is", async () => {
    expect([...samplesOf(await textOf(null, false))]).toEqual([["docmirror_database_up", 0]]);
  });

  it("are absent where nothing is known, not 0", async () => {
    const names = [...samplesOf(await textOf(EMPTY)).keys()].map((series) => series.replace(/\{.*/, ""));
    expect([...new Set(names)].toSorted()).toEqual([
      "docmirror_builds_open",
      "docmirror_builds_stuck",
      "docmirror_database_up",
      "docmirror_notices_given_up",
      "docmirror_notices_waiting",
      "docmirror_schema_changes_total",
    ]);
  });

  it("add up foreign states of builds as other", async () => {
    const openBuilds = [
      { state: "triggered", open: 3, stuck: 1 },
      { state: 'evil"} 1\ndocmirror_leader 1 #', open: 2, stuck: 2 },
      { state: "another", open: 5, stuck: 0 },
    ];
    const text = await textOf({ ...EMPTY, openBuilds });
    expect(seriesOf(text, "docmirror_builds_open")).toMatchObject({
      'state="triggered"': 3,
      'state="building"': 0,
      'state="other"': 7,
    });
    expect(seriesOf(text, "docmirror_builds_stuck")).toEqual({ "": 3 });
    expect(seriesOf(text, "docmirror_is_leader")).toEqual({});
  });

  it("show a standby and a leader", async () => {
    const text = await textOf({ ...EMPTY, hasLeader: true, isLeader: false });
    expect(seriesOf(text, "docmirror_has_leader")).toEqual({ "": 1 });
    expect(seriesOf(text, "docmirror_is_leader")).toEqual({ "": 0 });
  });
});

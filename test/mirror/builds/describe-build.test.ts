import { describe, expect, test } from "vitest";
import { type BuildDescription, describeBuild } from "../../../src/mirror/builds/describe-build.ts";
import { explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import { foreignPiece, momentPiece } from "../../../src/mirror/builds/piece.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createToldBuild, withTold } from "../../support/told-build.ts";

const value = (text: string) => ({ kind: "value", text });

async function describeTold(sql: Sql, most = 20): Promise<BuildDescription> {
  const { build, quarantine } = await explainBuild(sql, "42", "America/Chicago");
  if (build === null) throw new Error("there is no build 42");
  return describeBuild(build, quarantine, most);
}

describe("describeBuild", () => {
  test("says of each piece what it is", async () => {
    await using told = await createToldBuild();
    const { state, facts, states, changes, quarantine } = await withTold(told, (sql) => describeTold(sql));
    expect(state).toBe("finished, failure, html");
    expect(facts[0]).toEqual({
      label: "project",
      lines: [
        [foreignPiece("7"), ", ", foreignPiece("pip")],
        [{ kind: "uri", text: "/api/v1/project/7/" }, " as sent"],
      ],
    });
    const took = "5m 30s to 7m 1s from the trigger to the finish";
    expect(facts.at(-1)).toEqual({ label: "took", lines: [[took]] });
    expect(states.shown.map(({ title }) => title)).toEqual([
      "1. first seen triggered",
      "2. triggered → building",
      "3. building → triggered",
      "4. triggered → finished",
    ]);
    expect(states.shown[1]?.entries[0]).toEqual({
      label: "after",
      lines: [
        [momentPiece("2025-06-02 10:02:00+00")],
        [foreignPiece("when the last request that showed it triggered was sent")],
        [{ kind: "run", text: "run 3 (watch, began 2025-06-02 10:02:00)" }],
        [{ kind: "request", text: "GET /api/v1/build/42/" }],
      ],
    });
    expect(changes.shown[0]).toEqual({
      label: "updated",
      lines: [
        [momentPiece("2025-06-02 10:03:00.25+00"), ", run 4"],
        [foreignPiece("state"), ": ", value('"triggered"'), " → ", value('"building"')],
      ],
    });
    expect(quarantine.shown.map(({ label }) => label)).toEqual(["row 1"]);
  });

  test("tells the newest of each list, and how many are left out", async () => {
    await using told = await createToldBuild();
    const { states, quarantine } = await withTold(told, (sql) => describeTold(sql, 1));
    expect(states).toMatchObject({ left: 3, shown: [{ title: "4. triggered → finished" }] });
    expect(quarantine).toMatchObject({ left: 0, shown: [{ label: "row 1" }] });
  });

  test("claims no moment where nothing is known", async () => {
    await using told = await createToldBuild();
    const { states } = await withTold(told, async (sql) => {
      await sql`update mirror.build_transitions set not_before = '-infinity', rule = 'unknown' where seq = 1`;
      return describeTold(sql);
    });
    const [after, , within] = states.shown[0]?.entries ?? [];
    expect(after?.lines[0]).toEqual(["unknown"]);
    expect(within).toEqual({ label: "within", lines: [["unknown"]] });
  });
});

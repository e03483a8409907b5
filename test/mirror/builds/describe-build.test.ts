import { describe, expect, test } from "vitest";
import { type BuildDescription, describeBuild } from "../../../src/mirror/builds/describe-build.ts";
import { explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import { foreignPiece, momentPiece } from "../../../src/mirror/builds/piece.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createToldBuild, withTold } from "../../support/told-build.ts";

async function describeTold(sql: Sql): Promise<BuildDescription> {
  const { build, quarantine } = await explainBuild(sql, "42", "America/Chicago");
  if (build === null) throw new Error("there is no build 42");
  return describeBuild(build, quarantine);
}

describe("describeBuild", () => {
  test("says of each piece what it is", async () => {
    await using told = await createToldBuild();
    const { state, facts, states, changes, quarantine } = await withTold(told, describeTold);
    expect(state).toBe("finished, failure, html");
    expect(facts[0]).toEqual({
      label: "project",
      lines: [
        [foreignPiece("7"), ", ", foreignPiece("pip")],
        [{ kind: "uri", text: "/api/v1/project/7/" }, " as sent"],
      ],
    });
    expect(facts.at(-1)).toEqual({
      label: "took",
      lines: [
        [
          { kind: "interval", took: { least_ms: 330_000, most_ms: 421_000 } },
          " from the trigger to the finish",
        ],
      ],
    });
    expect(states.map(({ title }) => title)).toEqual([
      "1. first seen triggered",
      "2. triggered → building",
      "3. building → triggered",
      "4. triggered → finished",
    ]);
    expect(states[1]?.entries[0]).toEqual({
      label: "after",
      lines: [
        [momentPiece("2025-06-02 10:02:00+00")],
        [foreignPiece("when the last request that showed it triggered was sent")],
        [{ kind: "run", run: { id: 3, kind: "watch", started_at: "2025-06-02 10:02:00+00" } }],
        [{ kind: "request", path: "/api/v1/build/42/" }],
      ],
    });
    expect(changes[0]).toEqual({
      label: "updated",
      lines: [
        [momentPiece("2025-06-02 10:03:00.25+00"), ", run 4"],
        [
          foreignPiece("state"),
          ": ",
          { kind: "value", json: '"triggered"' },
          " → ",
          { kind: "value", json: '"building"' },
        ],
      ],
    });
    expect(quarantine.map(({ label }) => label)).toEqual(["row 1"]);
  });

  test("claims no moment where nothing is known", async () => {
    await using told = await createToldBuild();
    await withTold(
      told,
      (sql) =>
        sql`update mirror.build_transitions set not_before = '-infinity', rule = 'unknown' where seq = 1`,
    );
    const { states } = await withTold(told, describeTold);
    const [after, , within] = states[0]?.entries ?? [];
    expect(after?.lines[0]).toEqual(["unknown"]);
    expect(within).toEqual({ label: "within", lines: [["unknown"]] });
  });
});

import { describe, expect, it } from "vitest";
import { createSummaryPrinter } from "../../../src/cli/sync/print-summary.ts";
import { emptyCounts, type RunSummary } from "../../../src/mirror/lists/summary.ts";

const RUN: RunSummary = {
  run_id: 123_456,
  kind: "incremental",
  status: "partial",
  started_at: "2026-11-03T02:17:00.000Z",
  finished_at: "2026-11-03T02:47:00.000Z",
  duration_ms: 1_800_000,
  requests: 12_345,
  asked_for: { pages: 12_345, root: 0, schemas: 0, details: 0, references: 0 },
  bytes: 1,
  resources: {
    user: { walk: "whole", ...emptyCounts(), records: 1_234_567, unchanged: 1_234_567, total_count: 1 },
    build: {
      walk: "not_whole",
      ...emptyCounts(),
      pages: 12_345,
      records: 1_234_567,
      inserted: 1_234_567,
      updated: 123_456,
      deleted: 1234,
      restored: 3,
      quarantined: 2,
      total_count: 1,
      reason: `page 7 ${"could not be read ".repeat(12)}and that is all`,
    },
  },
  references: { resolved: 12_345, unresolved: 123 },
  unfinished: { deletions: 1234, waiting: 0, references: 0, open_builds: 5, deficit: 1234 },
  transitions: 1_234_567,
  warnings: ["the service said \u001b[2J"],
};

async function print(columns: number | undefined): Promise<string[]> {
  const written: string[] = [];
  const out = {
    isTty: columns !== undefined,
    hasWritten: false,
    colour: false,
    columns,
    write: async (text: string) => void written.push(text),
    json: async () => {},
  };
  await (await createSummaryPrinter(false))(RUN, out);
  return written.join("").trimEnd().split("\n");
}

describe("createSummaryPrinter", () => {
  it("fits a terminal of 80 columns, with large numbers too, and tells there what is rare below the table", async () => {
    const lines = await print(80);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^resource +walk +pages +records +new +updated +unchanged +deleted$/);
    expect(lines).toContain("  build: 3 restored, 2 quarantined");
    expect(lines.join(" ")).toMatch(/run 123456, incremental: partial after 1800\.0 s, 12345 requests,/);
    expect(lines).toContain("  left for the next run: 1,234 deletions to confirm, 5 open builds to poll");
    expect(lines.join(" ").replaceAll(/ +/g, " ")).toContain(
      "the service counts 1,234 records fewer than are here: the next sync looks for them",
    );
    expect(lines.join("\n")).not.toMatch(/user: /);
  });

  it("has a column for each count elsewhere, and its lines whole", async () => {
    const lines = await print(undefined);
    expect(lines[0]).toMatch(/ deleted +restored +quarantined$/);
    expect(lines).toContain(`  ${RUN.resources.build?.reason}`);
    expect(lines.at(-1)).toBe("  the service said ␛[2J");
  });
});

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { figureMetrics, processMetrics } from "../../tools/metrics-page.ts";
import { hasPromtool, promtool } from "../support/alert-firings.ts";
import { useFolder } from "../support/folder.ts";

const FOLDER = new URL("../../deploy/prometheus/", import.meta.url);
const pathOf = (name: string) => fileURLToPath(new URL(name, FOLDER));
const read = (name: string) => readFileSync(new URL(name, FOLDER), "utf8");

const Alert = z.strictObject({
  alert: z.string().regex(/^Docmirror[A-Z]\w+$/),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(["critical", "warning"]) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook: z.string() }),
});
const Rules = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(Alert) })),
});
const alerts = Rules.parse(parse(read("alerts.yml"))).groups.flatMap(({ rules }) => rules);

describe("the alerts for Prometheus", () => {
  it("each have a name of their own, and name their section of the runbook by it", () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { alert, annotations } of alerts)
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
  });

  it("ask only for metrics that are there, and for their labels", async () => {
    const metrics = [...(await figureMetrics()), ...(await processMetrics())];
    for (const { expr, annotations } of alerts) {
      const asked = [...expr.matchAll(/\bdocmirror_\w+/g)].map(([name]) => name);
      const found = metrics.filter(({ name }) => asked.includes(name));
      expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(asked));
      const labels = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
      const known = [...found.flatMap((metric) => metric.labels), "job", "instance", "file"];
      expect(known).toEqual(expect.arrayContaining(labels));
    }
  });

  it("each have a case that it fires in, and stay quiet in the quiet month by name", () => {
    for (const { alert } of alerts) expect(read("alerts_test.yml")).toContain(alert);
  });
});

describe.skipIf(!hasPromtool)("promtool", { timeout: 400_000 }, () => {
  it("finds nothing wrong in the rules and in the sample of a configuration", () => {
    expect(promtool(["check", "rules", pathOf("alerts.yml")])).toMatchObject({ code: 0 });
    expect(promtool(["check", "config", pathOf("prometheus.yml")])).toMatchObject({ code: 0 });
  });

  const check = (path: string) => {
    const { code, output } = promtool(["test", "rules", path]);
    expect(code, output).toBe(0);
  };
  const made = useFolder("docmirror-promtool-");
  it("finds every alert where alerts_test.yml wants it, and no other", { tags: ["long"] }, () => {
    const { tests } = parse(read("alerts_test.yml")) as { tests: { interval: string }[] };
    // Each minute of whole days, and of 20 alerts, would take a minute of the processor.
    for (const [interval, isOurs] of [
      ["1m", (one: string) => one === "1m"],
      ["5m", (one: string) => one !== "1m"],
    ] as const) {
      const ours = tests.filter((test) => isOurs(test.interval));
      expect(ours.length).toBeGreaterThan(5);
      const file = { rule_files: [pathOf("alerts.yml")], evaluation_interval: interval, tests: ours };
      writeFileSync(made.at("test.yml"), stringify(file));
      check(made.at("test.yml"));
    }
  });
  it("finds none in a quiet month, quiet_month_test.yml", { tags: ["long", "exhaustive"] }, () =>
    check(pathOf("quiet_month_test.yml")),
  );
});

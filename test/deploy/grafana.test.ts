import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { useReportReader } from "../support/report-reader.ts";
import { expandQuery } from "./grafana-query.ts";

const FOLDER = new URL("../../deploy/grafana/", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, FOLDER), "utf8");

const DatasourceRef = z.strictObject({
  type: z.literal("grafana-postgresql-datasource"),
  uid: z.literal("docmirror"),
});
const Target = z.strictObject({
  refId: z.string(),
  datasource: DatasourceRef,
  editorMode: z.literal("code"),
  rawQuery: z.literal(true),
  format: z.enum(["table", "time_series"]),
  rawSql: z.string(),
});
const Panel = z.strictObject({
  id: z.int(),
  type: z.enum(["stat", "table", "timeseries"]),
  title: z.string(),
  description: z.string(),
  datasource: DatasourceRef,
  gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z.tuple([Target]),
  fieldConfig: z.strictObject({
    defaults: z.record(z.string(), z.unknown()),
    overrides: z.array(
      z.strictObject({
        matcher: z.strictObject({ id: z.literal("byName"), options: z.string() }),
        properties: z.array(z.strictObject({ id: z.string(), value: z.unknown() })),
      }),
    ),
  }),
  options: z.record(z.string(), z.unknown()),
});
/** What a dashboard must have; `id` is missing, since it is Grafana's to give. */
const Dashboard = z.strictObject({
  uid: z.string().max(40),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  schemaVersion: z.literal(42),
  version: z.int(),
  editable: z.boolean(),
  timezone: z.literal("utc"),
  time: z.strictObject({ from: z.string(), to: z.literal("now") }),
  refresh: z.string(),
  graphTooltip: z.int(),
  weekStart: z.literal("monday"),
  links: z.array(z.looseObject({ type: z.literal("dashboards") })),
  annotations: z.strictObject({
    list: z.array(z.looseObject({ name: z.string(), datasource: DatasourceRef, target: Target })),
  }),
  templating: z.strictObject({
    list: z.array(
      z.looseObject({
        name: z.string(),
        type: z.literal("query"),
        datasource: DatasourceRef,
        query: z.string(),
        multi: z.literal(false),
        includeAll: z.literal(false),
        current: z.looseObject({ value: z.literal("(all)") }),
      }),
    ),
  }),
  panels: z.array(Panel),
});

const dashboards = readdirSync(new URL("dashboards/", FOLDER)).map((file) => {
  const { templating, annotations, ...rest } = Dashboard.parse(JSON.parse(read(`dashboards/${file}`)));
  return { file, ...rest, variables: templating.list, annotations: annotations.list };
});
const panels = dashboards.flatMap(({ file, variables, panels }) =>
  panels.map((panel) => ({ name: `${file}: ${panel.title} (${panel.type})`, variables, ...panel })),
);

const reader = useReportReader();

const DAY_MS = 86_400_000;
const lastDays = (days: number) => ({
  from: new Date(Date.now() - days * DAY_MS).toISOString(),
  to: new Date().toISOString(),
});
const QUARTER = lastDays(90);
const ALL = { project: "(all)", type: "(all)", kind: "(all)" };

const TIMESTAMPTZ = 1184;
const NUMBERS = [20, 23, 701];
const TEXT = 25;

async function ask(rawSql: string, variables: Record<string, string> = ALL, range = QUARTER) {
  const rows = await reader.sql.unsafe<Record<string, unknown>[]>(expandQuery(rawSql, range, variables));
  return { rows: [...rows], columns: rows.columns.map(({ name, type }) => ({ name, type })) };
}

function askPanel(file: string, id: number, variables?: Record<string, string>) {
  const panel = dashboards.find((one) => one.file === file)?.panels.find((one) => one.id === id);
  if (!panel) throw new Error(`${file} has no panel ${id}`);
  return ask(panel.targets[0].rawSql, variables);
}

describe.each(panels)("$name", ({ type, targets: [target], fieldConfig, variables }) => {
  it("gives columns of the kind that it draws, and all that its settings name", async () => {
    const { columns, rows } = await ask(target.rawSql);
    expect(rows.length).toBeGreaterThan(0);
    const names = columns.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { matcher, properties } of fieldConfig.overrides) {
      expect(names).toContain(matcher.options);
      const below = properties.find(({ id }) => id === "custom.fillBelowTo");
      if (below) expect(names).toContain(below.value);
    }
    expect(target.format).toBe(type === "timeseries" ? "time_series" : "table");
    if (type === "stat") expect(columns).toHaveLength(1);
    if (type !== "timeseries") return;
    expect(columns[0]).toEqual({ name: "time", type: TIMESTAMPTZ });
    for (const column of columns.slice(1)) {
      if (column.name === "metric") expect(column.type).toBe(TEXT);
      else expect(NUMBERS).toContain(column.type);
    }
    const times = rows.map(({ time }) => String(time));
    expect(times).toEqual(times.toSorted());
  });

  it("obeys each variable that it uses, whatever is in the value", async () => {
    for (const { name } of variables.filter(({ name }) => target.rawSql.includes(`\${${name}:`))) {
      const { rows } = await ask(target.rawSql, { ...ALL, [name]: "it's \\ no name" });
      // A figure is still told, and a calendar still has its days; but nothing is in them.
      const told = rows.flatMap(({ time, ...row }) => Object.values(row));
      expect(told.filter((value) => value !== null && value !== 0)).toEqual([]);
    }
  });
});

describe.each(dashboards)("$file", ({ panels, variables, annotations }) => {
  it("has panels that do not overlap, each with a number of its own", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it("offers values for its variables, all of them first, each of which it uses", async () => {
    for (const { name, query } of variables) {
      const { rows, columns } = await ask(query);
      // What is shown and what is asked with, where these differ.
      if (columns.length > 1) expect(columns.map((column) => column.name)).toEqual(["__text", "__value"]);
      expect(new Set(Object.values(rows[0] ?? {}))).toEqual(new Set(["(all)"]));
      expect(rows.length).toBeGreaterThan(1);
      expect(panels.some(({ targets: [{ rawSql }] }) => rawSql.includes(`\${${name}:`))).toBe(true);
    }
  });

  it("has annotations with a beginning, an end and words", async () => {
    for (const { target } of annotations) {
      const { rows, columns } = await ask(target.rawSql);
      const types = { time: TIMESTAMPTZ, timeend: TIMESTAMPTZ, text: TEXT, tags: TEXT };
      expect(columns).toEqual(Object.entries(types).map(([name, type]) => ({ name, type })));
      expect(rows[0]?.text).toMatch(/^4\d of 4\d projects failed, \d+ were to be expected$/);
    }
  });
});

describe("builds.json", () => {
  const days = (columns: string) =>
    reader.sql.unsafe(
      `select ${columns} from report.success_rate_daily join report.build_times_daily using (day)
       where day >= '${QUARTER.from}' order by day`,
    );

  it("has, unfiltered, the rates, volumes and durations of the views that mean them", async () => {
    const rates = await askPanel("builds.json", 7);
    const told = rates.rows.map((row) => {
      return [row["success rate"] ?? row["can still change"], row["95 % low"], row["95 % high"]];
    });
    const meant = await days("success_rate, success_rate_low, success_rate_high");
    expect(told).toHaveLength(91);
    for (const [day, row] of meant.entries()) {
      for (const [place, value] of Object.values(row).entries()) {
        if (value === null) expect(told[day]?.[place]).toBeNull();
        else expect(told[day]?.[place]).toBeCloseTo(value, 9);
      }
    }
    const volumes = await askPanel("builds.json", 8);
    const counts = await days("succeeded, failed, unfinished, cancelled");
    expect(volumes.rows.map(({ time, ...row }) => row)).toEqual([...counts]);
    const times = await askPanel("builds.json", 9);
    const bounds = await days("p50_s_min, p50_s_max, p95_s_min, p95_s_max");
    const clear = (low: number | null, high: number | null) =>
      low !== null && high !== null && high <= 20 * Math.max(low, 30) ? [low, high] : [null, null];
    const drawn = bounds.map((row) => {
      return [...clear(row.p50_s_min, row.p50_s_max), ...clear(row.p95_s_min, row.p95_s_max)];
    });
    expect(times.rows.map(({ time, ...row }) => Object.values(row))).toEqual(drawn);
    expect(new Set(drawn.map(([, , low]) => low === null)).size).toBe(2);
  });

  it("keeps projects that share a slug apart", async () => {
    const { variables } = dashboards.find(({ file }) => file === "builds.json") ?? {};
    const { rows } = await ask(variables?.[0]?.query ?? "");
    expect(rows.filter(({ __text: text }) => String(text).startsWith("project-2 "))).toEqual([
      { __text: "project-2 (2)", __value: "2" },
      { __text: "project-2 (3)", __value: "3" },
    ]);
    const builds = async (project: string) =>
      (await askPanel("builds.json", 2, { ...ALL, project })).rows[0]?.builds;
    const [meant] = await reader.sql`
      select count(*) as builds from report.fact_builds
      where project_id = '2' and triggered_on between ${QUARTER.from}::timestamptz::date and ${QUARTER.to}::timestamptz::date`;
    expect(await builds("2")).toBe(meant?.builds);
  });

  it("has the rates of one project where one is chosen", async () => {
    const { rows } = await askPanel("builds.json", 7, { ...ALL, project: "1" });
    const meant = await reader.sql`
      select coalesce(own.success_rate, -1) as rate from report.success_rate_daily as calendar
      left join report.success_rate_daily_by_project as own on own.day = calendar.day and own.project_id = '1'
      where calendar.day >= ${QUARTER.from}::timestamptz::date order by calendar.day`;
    const told = rows.map((row) => ({ rate: row["success rate"] ?? row["can still change"] ?? -1 }));
    expect(told).toEqual([...meant]);
    expect(told.some(({ rate }) => rate === -1) && told.some(({ rate }) => rate !== -1)).toBe(true);
  });

  it("has figures that agree with each other", async () => {
    const [stats, volumes] = await Promise.all([
      Promise.all([1, 2, 3, 4, 5].map((id) => askPanel("builds.json", id))),
      askPanel("builds.json", 8),
    ]);
    const sum = (name: string) => volumes.rows.reduce((total, row) => total + Number(row[name]), 0);
    const [rate, builds, failing, open, stuck] = stats.map(({ rows: [row] }) => Object.values(row ?? {})[0]);
    expect(builds).toBe(sum("succeeded") + sum("failed") + sum("unfinished") + sum("cancelled"));
    expect(rate).toBeCloseTo(sum("succeeded") / (sum("succeeded") + sum("failed")), 9);
    expect(Number(failing)).toBeGreaterThan(0);
    expect(Number(open)).toBeGreaterThanOrEqual(9);
    expect(Number(stuck)).toBeGreaterThan(0);
    expect(Number(stuck)).toBeLessThan(Number(open));
  });
});

it("all of this is asked with the rights of a reader alone", async () => {
  for (const relation of ["mirror.builds", "sync.runs", "rollup.builds", "report_people.users"])
    await expect(reader.sql.unsafe(`select from ${relation}`)).rejects.toMatchObject({ code: "42501" });
});

describe("the provisioning files", () => {
  it("make a data source of the reader's role, with its password from a file", () => {
    const { datasources } = z
      .strictObject({ apiVersion: z.literal(1), datasources: z.array(z.record(z.string(), z.unknown())) })
      .parse(parse(read("provisioning/datasources/docmirror.yaml")));
    expect(datasources).toEqual([
      expect.objectContaining({
        uid: "docmirror",
        type: "grafana-postgresql-datasource",
        url: "$READER_HOST",
        user: "$READER_NAME",
        secureJsonData: { password: "$__file{/run/secrets/reader_password}" },
        jsonData: expect.objectContaining({ database: "$READER_DATABASE", sslmode: "$READER_SSLMODE" }),
      }),
    ]);
  });

  it("let Grafana find the dashboards, whose uids are unique", () => {
    const { providers } = parse(read("provisioning/dashboards/docmirror.yaml"));
    expect(providers).toEqual([expect.objectContaining({ name: "docmirror", type: "file" })]);
    expect(dashboards.map(({ uid }) => uid).toSorted()).toEqual(["docmirror-builds", "docmirror-mirror"]);
  });
});

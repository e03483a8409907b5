/** When the alerts of `deploy/prometheus` would have fired, by a real Prometheus over recorded samples. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const RULES = fileURLToPath(new URL("../../deploy/prometheus/alerts.yml", import.meta.url));
/** In virtual time. A month of them stays below the 11,000 points that Prometheus gives at once. */
const STEP_S = 300;

interface AlertRule {
  alert: string;
  expr: string;
  forS: number;
}

export interface Firing {
  alert: string;
  fromMs: number;
  toMs: number;
}

export function readRules(): AlertRule[] {
  const { groups } = parse(readFileSync(RULES, "utf8")) as {
    groups: { rules: { alert: string; expr: string; for?: string }[] }[];
  };
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, for: span = "0s" }) => ({ alert, expr, forS: secondsOf(span) })),
  );
}

export function namesIn(rules: readonly AlertRule[]): Set<string> {
  return new Set(
    rules.flatMap(({ expr }) => expr.match(/\b(?:docmirror_\w+|node_textfile_mtime_seconds|up)\b/g) ?? []),
  );
}

const isHere = (program: string) => spawnSync(program, ["--version"]).status === 0;

/** Whether this machine has promtool, which Debian's package `prometheus` brings. */
export const hasPromtool = isHere("promtool");
if (!hasPromtool)
  process.stderr.write("promtool is not here (Debian: prometheus), so the tests that need it are skipped\n");

export const hasPrometheus = (): boolean => hasPromtool && isHere("prometheus");

export function labelSamples(
  text: string,
  { names, labels, second }: { names: ReadonlySet<string>; labels: string; second: number },
): string[] {
  return text.split("\n").flatMap((line) => {
    const [, name = "", own, value = ""] = /^([a-zA-Z_:]+)(?:\{(.*)\})?( .*)$/.exec(line) ?? [];
    return names.has(name) ? [`${name}{${labels}${own ? `,${own}` : ""}}${value} ${second}`] : [];
  });
}

/**
 * When the rules fired by the samples of a file: lines as `labelSamples` makes them. `folder` is for what Prometheus keeps.
 */
export async function findFirings(
  samplesPath: string,
  rules: readonly AlertRule[],
  { fromMs, toMs, folder, port }: { fromMs: number; toMs: number; folder: string; port: number },
): Promise<Firing[]> {
  const data = join(folder, "prometheus");
  const metrics = join(folder, "samples.om");
  writeFileSync(metrics, inOrder(readFileSync(samplesPath, "utf8")));
  const blocks = ["tsdb", "create-blocks-from", "--max-block-duration=720h", "openmetrics", metrics, data];
  execFileSync("promtool", blocks, { stdio: "ignore" });
  const config = join(folder, "prometheus.yml");
  writeFileSync(config, "global: {}\n");
  const storage = [`--storage.tsdb.path=${data}`, "--storage.tsdb.retention.time=10y"];
  const flags = [`--config.file=${config}`, ...storage, `--web.listen-address=127.0.0.1:${port}`];
  const server = spawn("prometheus", flags, { stdio: "ignore" });
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url, server);
    const firings: Firing[] = [];
    for (const rule of rules) firings.push(...(await firingsOf(url, rule, fromMs, toMs)));
    return firings.sort((one, other) => one.fromMs - other.fromMs);
  } finally {
    server.kill("SIGKILL");
    await once(server, "exit");
  }
}

/** All samples of a series together, and oldest first, as the format wants it. */
function inOrder(samples: string): string {
  const bySeries = new Map<string, string[]>();
  for (const line of samples.split("\n")) {
    const series = line.slice(0, line.lastIndexOf("}") + 1);
    if (series === "") continue;
    const lines = bySeries.get(series);
    if (lines) lines.push(line);
    else bySeries.set(series, [line]);
  }
  const series = [...bySeries].sort(([one], [other]) => (one < other ? -1 : 1));
  return `${series.flatMap(([, lines]) => lines).join("\n")}\n# EOF\n`;
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (server.exitCode !== null) throw new Error(`prometheus ended with ${server.exitCode}`);
    const reply = await fetch(`${url}/-/ready`).catch(() => null);
    if (reply?.ok) return;
    await delay(100);
  }
  throw new Error("prometheus did not become ready within a minute");
}

/** An alert fires once its expression has held for its time; the time before it is pending. */
async function firingsOf(
  url: string,
  { alert, expr, forS }: AlertRule,
  fromMs: number,
  toMs: number,
): Promise<Firing[]> {
  const span = `start=${fromMs / 1000}&end=${toMs / 1000}&step=${STEP_S}`;
  const reply = await fetch(`${url}/api/v1/query_range?query=${encodeURIComponent(expr)}&${span}`);
  const { data, error } = (await reply.json()) as {
    data?: { result: { values: [number, string][] }[] };
    error?: string;
  };
  if (!data) throw new Error(`${alert}: ${error}`);
  return data.result.flatMap(({ values }) => {
    const spans: Firing[] = [];
    let began = Number.NaN;
    let last = Number.NaN;
    for (const [second] of values) {
      if (!(second - last <= STEP_S)) began = second;
      last = second;
      if (second - began < forS) continue;
      const open = spans.at(-1);
      if (open && open.fromMs === (began + forS) * 1000) open.toMs = second * 1000;
      else spans.push({ alert, fromMs: (began + forS) * 1000, toMs: second * 1000 });
    }
    return spans;
  });
}

function secondsOf(span: string): number {
  const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };
  return [...span.matchAll(/(\d+)([smhd])/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0),
    0,
  );
}

/** Runs promtool. All that it wrote, and 0 where it found nothing wrong. */
export function promtool(args: readonly string[], input = ""): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8" });
  return { code: status, output: `${stdout}${stderr}` };
}

/** The samples of a text in the format of Prometheus, by their series as the text names them. */
export function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const at = line.lastIndexOf(" ");
    const series = line.slice(0, at);
    if (samples.has(series)) throw new Error(`${series} comes twice`);
    samples.set(series, Number(line.slice(at + 1)));
  }
  return samples;
}

/** The value of each series of a metric, by its labels without the braces; "" where it has none. */
export function seriesOf(text: string, name: string): Record<string, number> {
  const found = [...samplesOf(text)].flatMap(([series, value]) => {
    const [, of, labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
    return of === name ? [[labels, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** The sum of all series of a metric whose labels contain `part`. */
export function sumOf(text: string, name: string, part = ""): number {
  const series = Object.entries(seriesOf(text, name)).filter(([labels]) => labels.includes(part));
  return series.reduce((sum, [, value]) => sum + value, 0);
}

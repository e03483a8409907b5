/**
 * `npm run bench:seconds`: two nights at a rate, second by second: the requests that the service saw in each, and where the time of
 * the whole command goes that they do not explain. Options: `--rate 4`, `--runs 1`, `--builds 30000`, `--latency 0` in milliseconds.
 * Linux alone, as `npm run bench -- --peers`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "./median.ts";
import { measureNight, type Night } from "./peers/measure-night.ts";
import { startPeerPostgres } from "./peers/peer-postgres.ts";
import type { Program } from "./peers/programs.ts";
import { startService } from "./start-service.ts";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "4" },
    runs: { type: "string", default: "1" },
    builds: { type: "string", default: "30000" },
    latency: { type: "string", default: "0" },
  },
});
const rate = Number(values.rate);
const SIZES = { users: 4000, projects: 3000, versions: 15_000, files: 16_500, builds: Number(values.builds) };
const NIGHTS = ["first night", "second night"];
const PROGRAM = fileURLToPath(new URL("../../bin/docmirror.js", import.meta.url));

/** The lines of the log that end a part of the command. */
const MARKS: readonly [line: string, part: string][] = [
  ["run closed", "the run"],
  ["reports refreshed", "the reports"],
  ["records were compared with the service", "the check"],
];

const docmirror = (ratePerSecond: string): Program => ({
  name: "docmirror",
  command: (service, database) => [
    ...([process.execPath, PROGRAM, "sync", "--full", "--rate", ratePerSecond] as const),
    ...["--log-level", "debug", "--log-format", "json", "--base-url", service, "--database-url", database],
  ],
  env: {},
  choosesPages: true,
  builds: "",
});

const print = (line: string) => process.stdout.write(`${line}\n`);

/** The seconds that the requests of a night take at the rate: each but the first waits for the one before. */
const leastOf = ({ requests }: Night) => (requests - 1) / rate;

function describe({ arrivals, startedAtMs, seconds, log }: Night): string[] {
  const counts = Array.from({ length: Math.ceil(seconds) }, () => 0);
  for (const { atMs } of arrivals) {
    const second = Math.floor((atMs - startedAtMs) / 1000);
    counts[second] = (counts[second] ?? 0) + 1;
  }
  const rows = Array.from({ length: Math.ceil(counts.length / 10) }, (_, row) => {
    const own = counts.slice(10 * row, 10 * row + 10);
    const sum = own.reduce((total, count) => total + count, 0);
    return `  ${String(10 * row).padStart(3)} s  ${own
      .map((count) => String(count).padStart(2))
      .join(" ")
      .padEnd(30)} = ${sum}`;
  });
  const lines = log.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const ends = MARKS.flatMap(([wanted, part]) => {
    const found = lines.find(({ msg }) => msg === wanted);
    return found ? [`${part} until ${((Date.parse(found.time) - startedAtMs) / 1000).toFixed(1)} s`] : [];
  });
  const at = (place: number) => (((arrivals.at(place)?.atMs ?? 0) - startedAtMs) / 1000).toFixed(1);
  const kinds = ["root", "schema", "page", "detail"].map(
    (kind) => `${arrivals.filter(({ asksFor }) => asksFor === kind).length} ${kind}`,
  );
  return [
    ...rows,
    `  first request at ${at(0)} s, last at ${at(-1)} s (${kinds.join(", ")}); ${ends.join(", ")}`,
  ];
}

const folder = await mkdtemp(join(tmpdir(), "docmirror-seconds-"));
const postgres = await startPeerPostgres();
try {
  const nights = new Map<string, Night[]>(NIGHTS.map((name) => [name, []]));
  const service = await startService({ sizes: SIZES, latencyMs: Number(values.latency) });
  for (let run = 0; run < Number(values.runs); run++) {
    const databaseUrl = await postgres.createDatabase();
    for (const name of NIGHTS) {
      // What the service has to render for the night, it then has: its work is not the command's.
      const copy = await postgres.copyDatabase(databaseUrl);
      await measureNight({ program: docmirror("0"), service, postgres, databaseUrl: copy, folder });
      await postgres.dropDatabase(copy);
      const night = await measureNight({
        program: docmirror(values.rate),
        service,
        postgres,
        databaseUrl,
        folder,
      });
      nights.get(name)?.push(night);
      print(`${name}, run ${run + 1}: ${night.requests} requests, ${night.seconds.toFixed(1)} s`);
      for (const line of describe(night)) print(line);
    }
    await postgres.dropDatabase(databaseUrl);
  }
  service.stop();
  print(`\n${postgres.description}; at ${rate} requests a second, median of ${values.runs}\n`);
  print("| night | requests | requests / rate | command | beyond | CPU: program, database |");
  print("| --- | --- | --- | --- | --- | --- |");
  for (const [name, own] of nights) {
    const of = (figure: (night: Night) => number) => median(own.map(figure));
    print(
      `| ${name} | ${of(({ requests }) => requests)} | ${of(leastOf).toFixed(1)} s | ${of(({ seconds }) => seconds).toFixed(1)} s | ` +
        `${of((night) => night.seconds - leastOf(night)).toFixed(1)} s | ${of(({ programCpu }) => programCpu).toFixed(1)}, ${of(({ databaseCpu }) => databaseCpu).toFixed(1)} s |`,
    );
  }
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

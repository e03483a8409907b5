/**
 * `npm run bench -- --peers`: docmirror beside a plain loop and dlt, by turns over one service and one Postgres. Prints one table in Markdown,
 * whose figures are medians of whole commands, from their start to their exit.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../median.ts";
import { type Service, startService } from "../start-service.ts";
import { measureNight, type Night, type NightOptions } from "./measure-night.ts";
import { idsIn, type PeerPostgres, rowsWritten, startPeerPostgres } from "./peer-postgres.ts";
import { listPrograms, type Program } from "./programs.ts";
import { installPackages } from "./python-packages.ts";

export interface PeersOptions {
  runs: number;
  /** How many records of each kind the service has. */
  sizes: object;
  /** How many builds are new at the head of the list in the third night. */
  newBuilds: number;
  /** Requests a second, 0 for no limit. */
  rate: string;
}

/** The service of the misses: 2,000 builds, the newest of which goes after each page. */
const CHANGING = { users: 20, projects: 20, versions: 60, files: 20, builds: 2000 };
const NIGHTS = ["first night", "identical second night", "night with 1 % new builds"] as const;

/** The figures of all runs of one program. */
interface Figures {
  nights: Night[][];
  written: number[];
  missed: string[];
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const note = (line: string) => process.stderr.write(`${line}\n`);

/** Returns the exit code: 1 where something is missing, which it says. */
export async function benchPeers({ runs, sizes, newBuilds, rate }: PeersOptions): Promise<number> {
  if (!existsSync("/proc/self/stat")) return lacking("CPU and memory are read from /proc, which Linux has");
  const folder = await mkdtemp(join(tmpdir(), "docmirror-peers-"));
  try {
    note("installing dlt and the packages of the loop");
    const python = await installPackages(folder);
    if ("missing" in python) return lacking(python.missing);
    const programs = listPrograms(python, rate);
    const postgres = await startPeerPostgres();
    try {
      const figures = new Map<Program, Figures>(
        programs.map((program) => [program, { nights: NIGHTS.map(() => []), written: [], missed: [] }]),
      );
      const service = await startService({ sizes });
      for (let run = 0; run < runs; run++) {
        // Nobody is always the first, whose pages are the coldest.
        const inTurn = [
          ...programs.slice(run % programs.length),
          ...programs.slice(0, run % programs.length),
        ];
        await runNights({
          inTurn,
          figures,
          service,
          postgres,
          newBuilds,
          folder: join(folder, `run-${run}`),
        });
      }
      service.stop();
      for (let run = 0; run < runs; run++) {
        for (const program of programs) {
          const own = makeFolder(folder, `missed-${run}`, program);
          figures.get(program)?.missed.push(await countMisses(program, postgres, own));
        }
      }
      print(`${python.description}, ${postgres.description}; median of ${runs}\n`);
      for (const line of render(programs, figures)) print(line);
      return 0;
    } finally {
      await postgres.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function lacking(what: string): number {
  note(`--peers needs Python 3 and its package index, on Linux: ${what}`);
  return 1;
}

interface Turn {
  inTurn: readonly Program[];
  figures: ReadonlyMap<Program, Figures>;
  service: Service;
  postgres: PeerPostgres;
  newBuilds: number;
  folder: string;
}

/** Three nights of each program in a database of its own. */
async function runNights({ inTurn, figures, service, postgres, newBuilds, folder }: Turn): Promise<void> {
  const places = new Map<Program, { databaseUrl: string; folder: string }>();
  for (const program of inTurn) {
    places.set(program, {
      databaseUrl: await postgres.createDatabase(),
      folder: makeFolder(folder, program.name.replace(/\W+/g, "-"), program),
    });
  }
  for (const [night, name] of NIGHTS.entries()) {
    if (name === "night with 1 % new builds") await service.ask({ trigger: newBuilds });
    await makePages(service);
    for (const program of inTurn) {
      const place = places.get(program);
      const own = figures.get(program);
      if (place === undefined || own === undefined) throw new Error(`${program.name} has no place`);
      if (program.choosesPages) await rehearse({ program, service, postgres, ...place });
      const before = await rowsWritten(place.databaseUrl);
      const figure = await measureNight({ program, service, postgres, ...place });
      own.nights[night]?.push(figure);
      if (name === "identical second night")
        own.written.push((await rowsWritten(place.databaseUrl)) - before);
      note(`${program.name}, ${name}: ${figure.seconds.toFixed(2)} s`);
    }
  }
  for (const { databaseUrl } of places.values()) await postgres.dropDatabase(databaseUrl);
}

/** Has the service render each page, which it then keeps: its work is none of the programs'. */
async function makePages({ url }: Service): Promise<void> {
  const floor = fileURLToPath(new URL("../floor.ts", import.meta.url));
  const args = ["--import", "tsx", floor, "download", url, "4"];
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  if (code !== 0) throw new Error("the pages of the service could not be read");
}

/** The night once in a copy of the database: what the service has to render for it, it then has. */
async function rehearse(night: NightOptions): Promise<void> {
  const { postgres } = night;
  const databaseUrl = await postgres.copyDatabase(night.databaseUrl);
  await measureNight({ ...night, databaseUrl });
  await postgres.dropDatabase(databaseUrl);
}

/** How many builds were there all the time and are missing after a first night, and how the command ended. */
async function countMisses(program: Program, postgres: PeerPostgres, folder: string): Promise<string> {
  const service = await startService({ sizes: CHANGING, deletes: true });
  const databaseUrl = await postgres.createDatabase();
  try {
    const { exitCode } = await measureNight({
      program,
      service,
      postgres,
      databaseUrl,
      folder,
      mayFail: true,
    });
    // None is new, so those that are there now were there all the time.
    const live = (await service.ask({ builds: true })) as string[];
    const known = await idsIn(databaseUrl, program.builds);
    return `${live.filter((id) => !known.has(id)).length} of ${live.length}, exit code ${exitCode}`;
  } finally {
    service.stop();
    await postgres.dropDatabase(databaseUrl);
  }
}

function makeFolder(folder: string, name: string, program: Program): string {
  const path = join(folder, name, program.name.replace(/\W+/g, "-"));
  mkdirSync(path, { recursive: true });
  return path;
}

function render(programs: readonly Program[], figures: ReadonlyMap<Program, Figures>): string[] {
  const line = (what: string, of: (own: Figures) => string) => {
    const cells = programs.map((program) => {
      const own = figures.get(program);
      return own === undefined ? "" : of(own);
    });
    return `| ${[what, ...cells].join(" | ")} |`;
  };
  const middle = (nights: readonly Night[] | undefined, of: (night: Night) => number) =>
    median((nights ?? []).map(of));
  return [
    `| figure | ${programs.map(({ name }) => name).join(" | ")} |`,
    `| --- | ${programs.map(() => "---").join(" | ")} |`,
    ...NIGHTS.flatMap((name, night) => [
      line(name, ({ nights }) => `${middle(nights[night], ({ seconds }) => seconds).toFixed(2)} s`),
      line("its CPU: program, database", ({ nights }) => {
        const [program, database] = [
          middle(nights[night], ({ programCpu }) => programCpu),
          middle(nights[night], ({ databaseCpu }) => databaseCpu),
        ];
        return `${program.toFixed(1)}, ${database.toFixed(1)} s`;
      }),
      line(
        "its peak memory",
        ({ nights }) => `${middle(nights[night], ({ peakMb }) => peakMb).toFixed(0)} MB`,
      ),
      line("its requests", ({ nights }) => String(middle(nights[night], ({ requests }) => requests))),
    ]),
    line("rows written on the second night", ({ written }) => median(written).toLocaleString("en")),
    line("live builds missed while one a page is deleted", ({ missed }) => [...new Set(missed)].join("; ")),
  ];
}

/** Runs each command of the pages for operators, as it stands there. `backups.test.ts` runs those of the backups. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulation, startSimulation } from "../../src/simulate/service.ts";
import { createWorld } from "../../src/simulate/world.ts";
import { replaceDatabase, withSql } from "../../src/store/connection/connect.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { SMALL } from "../support/quick-world.ts";
import { createSystemPostgres, POSTGRES_BIN } from "../support/system-postgres.ts";
import { startWebhookReceiver, WEBHOOK_SECRET, type WebhookReceiver } from "../support/webhook-receiver.ts";

const SESSION = { applicationName: "docmirror test", max: 1 } as const;
/** Roles belong to all databases of a server. */
const ROLE = `reader_${process.pid}`;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (page: string) => readFileSync(join(ROOT, "docs", page), "utf8");
const operations = read("operations.md");
// Its section of backups is run by `backups.test.ts`.
const database = read("database.md").replace(/^## Backups\n[\s\S]*?(?=^## )/m, "");

/** Commands that run until they are stopped, and what they say when they are up. */
const LASTING: Readonly<Record<string, RegExp>> = {
  "docmirror worker": /the worker is up/,
  "docmirror watch": /the watch is up/,
  "docmirror database": /^postgres:/m,
  "docmirror database --with-password": /^postgres:/m,
};

const blocks = (page: string, language: string) =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = ""]) =>
    name === language ? [text] : [],
  );

/** The commands of a page: in its text, behind `$` in an example, in a line of a crontab, in a block for a shell. */
function commandsOf(page: string): string[] {
  const text = page.replace(/^```[\s\S]*?^```$/gm, "");
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  const lines = blocks(page, "").flatMap((block) => block.split("\n"));
  const typed = lines.flatMap((line) => /^\$ (.*)/.exec(line)?.[1] ?? []);
  const timed = lines.flatMap((line) => /^(?:[\d*/,-]+\s+){5}(.*)/.exec(line)?.[1] ?? []);
  const scripts = blocks(page, "sh").filter((block) => !block.includes("postgres://"));
  return [...spans.filter((span) => /^docmirror [a-z]/.test(span)), ...typed, ...timed, ...scripts];
}

/** What they do is shown with the commands themselves, in places of their own. */
const isOfBackups = (command: string) => /^(?:pg_dump|docmirror (?:backup|restore))/.test(command);
const commands = [...new Set([...commandsOf(operations), ...commandsOf(database)])].filter(
  (command) => !isOfBackups(command),
);

describe("the commands for operators", { tags: ["long"], timeout: 120_000 }, () => {
  let folder: string;
  let mirror: TestDatabase;
  let service: Simulation;
  let receiver: WebhookReceiver;
  let env: Record<string, string>;
  let build = "";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "docmirror-operations-"));
    // What the crontab calls /srv/docmirror.
    for (const name of ["bin", "dist", "migrations", "node_modules", "package.json"])
      symlinkSync(join(ROOT, name), join(folder, name));
    mirror = await createTestDatabase();
    const world = createWorld({ ...SMALL, builds: 200, outputBytes: 100, startAt: new Date() });
    service = await startSimulation({ world });
    receiver = await startWebhookReceiver();
    env = {
      PATH: [join(ROOT, "test/support/path"), process.env.PATH].join(delimiter),
      HOME: folder,
      DATABASE_URL: mirror.url,
      DOCMIRROR_BASE_URL: service.url,
      DOCMIRROR_RATE: "0",
      DOCMIRROR_HTTP_PORT: "0",
      DOCMIRROR_WEBHOOK_URL: receiver.url.href,
      DOCMIRROR_WEBHOOK_SECRET: WEBHOOK_SECRET,
    };
    expect(await shell("docmirror sync --full")).toMatchObject({ code: 0 });
    build = await withSql(mirror.url, SESSION, async (sql) => {
      await sql.unsafe(`create role ${ROLE}`);
      const [newest] = await sql<{ id: string }[]>`select id from mirror.builds order by date desc limit 1`;
      return newest?.id ?? "";
    });
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await receiver?.[Symbol.asyncDispose]();
    await withSql(mirror.url, SESSION, (sql) => sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`));
    await mirror[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command until it ends, or until it says that it is up and is asked to end. */
  async function shell(
    command: string,
    { until, more = {}, input = "" }: { until?: RegExp; more?: Record<string, string>; input?: string } = {},
  ): Promise<{ code: number | null; text: string }> {
    const script = command
      .replaceAll("/srv/docmirror", folder)
      .replaceAll("/var/log", folder)
      .replace(/build (?:ID|42)$/, `build ${build}`)
      .replace(/ ROLE$/, ` ${ROLE}`)
      .replaceAll("https://docs.example.org", service.url);
    // `exec` lets a signal reach the program. A session of its own has no terminal to ask for passwords.
    const line = until === undefined ? script : `exec ${script}`;
    const child = spawn("sh", ["-euc", line], { cwd: folder, env: { ...env, ...more }, detached: true });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        // A second signal would end it at once.
        if (until?.test(text) && !child.killed) child.kill("SIGTERM");
      });
    child.stdin.end(input);
    const [code] = (await once(child, "close")) as [number | null];
    return { code, text };
  }

  it("are found in the pages", () => {
    expect(commands.length).toBeGreaterThan(25);
  });

  it.each(commands)("%s", async (command) => {
    const until = LASTING[command];
    // The embedded Postgres is used where no other is named.
    const more: Record<string, string> = command.startsWith("docmirror database")
      ? { DATABASE_URL: "", DOCMIRROR_DATA_DIR: join(folder, "data") }
      : {};
    const { code, text } = await shell(command, { more, ...(until && { until }) });
    expect(code, text).toBe(until ? 143 : 0);
    if (until) expect(text).toMatch(until);
  });

  it.skipIf(POSTGRES_BIN === null)("make a database and a role that a first sync needs", async () => {
    const [create = ""] = blocks(database, "sh");
    expect(create).toMatch(/^createuser/);
    const postgres = createSystemPostgres("admin");
    postgres.init("own");
    const port = await freePort();
    const server = await postgres.start("own", port);
    try {
      const login = { PGHOST: "127.0.0.1", PGPORT: String(port), PGUSER: "docmirror", PGPASSWORD: "admin" };
      const more = { ...login, PATH: [POSTGRES_BIN, env.PATH].join(delimiter) };
      // The superuser of this cluster is called docmirror, so the page's role gets another name.
      const script = create.replaceAll("docmirror", "mirror_owner").replace("host:5432", `127.0.0.1:${port}`);
      const input = "password\npassword\n";
      expect(await shell(`${script}docmirror sync`, { more, input })).toMatchObject({ code: 0 });
      const rows = await withSql(
        replaceDatabase(postgres.url(port), "mirror_owner"),
        SESSION,
        (sql) => sql`
        select usesuper as superuser, (select count(*)::int > 0 from mirror.builds) as mirrored
        from pg_user where usename = 'mirror_owner'`,
      );
      expect([...rows]).toEqual([{ superuser: false, mirrored: true }]);
    } finally {
      await server.stop();
      postgres.remove();
    }
  });
});

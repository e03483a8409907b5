import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SETTING_KEYS, SETTINGS, type SettingKey } from "../../src/base/config/settings.ts";
import { type ConfigInput, loadConfig, requireBaseUrl } from "../../src/base/config.ts";
import { ConfigError } from "../../src/base/errors.ts";
import { envExample } from "../../tools/env-example.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "docmirror-config-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const load = (input: ConfigInput = {}) => loadConfig({ env: {}, cwd, ...input });
const sourceOf = (input: ConfigInput, name: string) =>
  load(input).settings.find((setting) => setting.name === name)?.source;

/** The default as the declaration has it; the value itself, but for a path and the word `auto` of the log. */
function writtenDefault(key: SettingKey): string | null {
  if (key === "dataDir") return join(cwd, ".docmirror");
  return key === "logFormat" ? "json" : SETTINGS[key].default;
}

function faultsOf(input: ConfigInput): string {
  try {
    load(input);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("no fault was found");
}

describe("defaults", () => {
  it("are those that the product promises", () => {
    expect(load().config).toMatchObject({
      timeoutMs: 30_000,
      retries: 5,
      ratePerSecond: 3,
      maxBodyBytes: 64 * 1024 * 1024,
      stuckAfterMs: 7_200_000,
      replicaLagMs: 600_000,
      staleAfterMs: 108_000_000,
      maxDeleteRatio: 0.05,
      content: false,
      contentBudgetMs: 1_800_000,
      httpPort: 8321,
    });
    // All others are as they are declared: as they are written, or null.
    for (const key of SETTING_KEYS) {
      const value: unknown = load().config[key];
      if (value === null || typeof value === "string") expect(value, key).toBe(writtenDefault(key));
    }
  });

  it("log prettily on a terminal only", () => {
    expect(load({ isTty: true }).config.logFormat).toBe("pretty");
    expect(load({ isTty: true, env: { DOCMIRROR_LOG_FORMAT: "json" } }).config.logFormat).toBe("json");
  });

  it("give way to origins, which are read as a list", () => {
    const origins = (text: string) => load({ env: { DOCMIRROR_HTTP_CORS: text } }).config.httpCors;
    expect(origins("*")).toBe("*");
    const both = ["https://a.example", "http://localhost:3000"];
    expect(origins(both.join(", "))).toEqual(both);
  });

  it("give way to host names, which are read as a list without ports", () => {
    const hosts = (text: string) =>
      load({ env: { DOCMIRROR_HTTP_ALLOWED_HOSTS: text } }).config.httpAllowedHosts;
    expect(hosts("Mirror.Example.org., mirror.local:8321")).toEqual(["mirror.example.org", "mirror.local"]);
    for (const wrong of ["https://mirror.example.org", "a,,b", "*.example.org", "a b", "a/b", "a@b"]) {
      expect(() => hosts(wrong), wrong).toThrow("is not a list of host names");
    }
  });

  it("cannot be changed through the config", () => {
    expect(Object.isFrozen(load().config)).toBe(true);
  });

  it("stand in .env.example with every setting and its meaning; `npm run docs:settings` writes it", () => {
    expect(readFileSync(new URL("../../.env.example", import.meta.url), "utf8")).toBe(envExample());
    for (const key of SETTING_KEYS) expect(envExample()).toContain(`\n# ${SETTINGS[key].name}=`);
  });

  it("are what .env.example gives when every line is switched on", () => {
    const defaults = load().config;
    writeFileSync(join(cwd, ".env"), envExample().replace(/^# (?=[A-Z_]+=)/gm, ""));
    expect(load().config).toEqual(defaults);
    expect(sourceOf({}, "DOCMIRROR_RATE")).toBe(".env");
    expect(sourceOf({}, "DATABASE_URL")).toBe("default");
  });
});

describe("secrets", () => {
  it("are never shown, whatever characters they have", () => {
    const env = {
      DOCMIRROR_DATABASE_PASSWORD: "pa://ss@w/o%rd",
      DOCMIRROR_WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 7).toString("base64")}`,
      DOCMIRROR_WEBHOOK_URL: "https://hooks.example.org/services/T0/B0/s3cret",
    };
    const { config, settings } = load({ env });
    expect(config.databasePassword).toBe("pa://ss@w/o%rd");
    expect(config.webhookSecret).toEqual(Buffer.alloc(24, 7));
    const shown = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
    expect(shown).toMatchObject({
      DOCMIRROR_DATABASE_PASSWORD: "***",
      DOCMIRROR_WEBHOOK_SECRET: "***",
      DOCMIRROR_WEBHOOK_URL: "https://hooks.example.org/***",
    });
  });

  it("keep the blanks around a password, whether a variable, a file or a flag gives it", () => {
    const password = " two words ";
    writeFileSync(join(cwd, "password"), `${password}\r\n\n`);
    for (const input of [
      { env: { DOCMIRROR_DATABASE_PASSWORD: `${password}\n` } },
      { env: { DOCMIRROR_DATABASE_PASSWORD_FILE: "password" } },
      { flags: { "database-password": password } },
    ])
      expect(load(input).config.databasePassword).toBe(password);
  });

  it("are left out of the message about a value that cannot be used", () => {
    expect(faultsOf({ env: { DOCMIRROR_WEBHOOK_SECRET: "hunter2" } })).toBe(
      "a setting cannot be used: DOCMIRROR_WEBHOOK_SECRET (environment): the value is not whsec_ and 24 to 64 bytes in base64",
    );
  });

  it.each([
    ["database-url", "postgres://me:hunter2@db:5432/mirror", "postgres://me:***@db:5432/mirror"],
    ["database-url", "postgres://me:hun/ter2@x@db/mirror", "postgres://me:***@db/mirror"],
    ["database-url", "postgres://db/m?user=me&password=hunter2", "postgres://db/m?user=me&password=***"],
    ["database-url", "postgres://me@db/mirror", "postgres://me@db/mirror"],
    ["base-url", "https://me:hunter2@docs.example.org/x", "https://me:***@docs.example.org/x"],
    ["base-url", "https://hunter2@docs.example.org/x", "https://***@docs.example.org/x"],
  ] as const)("--%s %s is shown masked", (flag, text, shown) => {
    const { settings } = load({ flags: { [flag]: text } });
    expect(settings.find((setting) => setting.flag === flag)?.value).toBe(shown);
  });

  const WRONG = ["postgress://me:hunter2@db", "me:hunter2@db", "postgres://me:hunter2@db x"];
  it.each(WRONG)("a wrong URL such as %s is not repeated", (text) => {
    expect(faultsOf({ flags: { "database-url": text, "base-url": text } })).not.toContain("hunter2");
  });
});

describe("precedence", () => {
  it("a flag beats the environment, which beats .env, which beats the default", () => {
    const name = "DOCMIRROR_RATE";
    const env = { [name]: "2" };
    expect([load().config.ratePerSecond, sourceOf({}, name)]).toEqual([3, "default"]);
    writeFileSync(join(cwd, ".env"), `${name}=1\nOTHER_PROGRAM=x\n`);
    expect([load().config.ratePerSecond, sourceOf({}, name)]).toEqual([1, ".env"]);
    expect([load({ env }).config.ratePerSecond, sourceOf({ env }, name)]).toEqual([2, "environment"]);
    const flags = { rate: "3" };
    expect([load({ env, flags }).config.ratePerSecond, sourceOf({ env, flags }, name)]).toEqual([3, "flag"]);
  });

  it("an empty variable counts as unset", () => {
    writeFileSync(join(cwd, ".env"), "DOCMIRROR_RATE=1\n");
    const env = { DOCMIRROR_RATE: "", DATABASE_URL: " ", DATABASE_URL_FILE: "" };
    expect(load({ env }).config).toMatchObject({ ratePerSecond: 1, databaseUrl: null });
  });

  it("an empty flag is a fault, since it is most likely an unset shell variable", () => {
    expect(faultsOf({ flags: { "base-url": "" } })).toContain("--base-url: needs a value");
  });
});

describe("a value from a file", () => {
  const secret = "postgres://docmirror:hunter2@db/mirror";

  it("is read without its last newline, and its path is told", () => {
    const path = join(cwd, "secret");
    writeFileSync(path, `${secret}\n`);
    const env = { DATABASE_URL_FILE: path };
    expect(load({ env }).config.databaseUrl).toBe(secret);
    expect(sourceOf({ env }, "DATABASE_URL")).toBe(`file ${path}`);
  });

  it("may be named by every setting, relative to the working directory", () => {
    writeFileSync(join(cwd, "rate"), "7\r\n");
    expect(load({ env: { DOCMIRROR_RATE_FILE: "rate" } }).config.ratePerSecond).toBe(7);
  });

  it("in the environment beats a value in .env", () => {
    writeFileSync(join(cwd, "secret"), secret);
    writeFileSync(join(cwd, ".env"), "DATABASE_URL=postgres://other/db\n");
    expect(load({ env: { DATABASE_URL_FILE: "secret" } }).config.databaseUrl).toBe(secret);
  });

  it("beside a value is a fault", () => {
    writeFileSync(join(cwd, "secret"), secret);
    const fault = faultsOf({ env: { DATABASE_URL: secret, DATABASE_URL_FILE: "secret" } });
    expect(fault).toContain("DATABASE_URL and DATABASE_URL_FILE are both set (environment); keep one");
  });

  it("that is missing, empty or a folder is a fault that names it", () => {
    writeFileSync(join(cwd, "empty"), "\n");
    expect(faultsOf({ env: { DATABASE_URL_FILE: "absent" } })).toContain("absent cannot be read (ENOENT)");
    expect(faultsOf({ env: { DATABASE_URL_FILE: "empty" } })).toContain("empty is empty");
    expect(faultsOf({ env: { DATABASE_URL_FILE: "." } })).toContain("cannot be read (EISDIR)");
  });
});

describe("faults", () => {
  it("are named all at once, wherever they come from", () => {
    writeFileSync(join(cwd, ".env"), "DOCMIRROR_RETRIES=many\nDOCMIRROR_RETRYS=3\n");
    const env = { DOCMIRROR_RATE: "fast", DOCMIRROR_PAGESIZE: "10" };
    const message = faultsOf({ env, flags: { timezone: "Mars/Olympus" } });
    expect(message.split("\n")).toEqual([
      "5 settings cannot be used:",
      "  - DOCMIRROR_PAGESIZE (environment): there is no such setting; did you mean DOCMIRROR_PAGE_SIZE?",
      "  - DOCMIRROR_RETRYS (.env): there is no such setting; did you mean DOCMIRROR_RETRIES?",
      '  - DOCMIRROR_RATE (environment): "fast" is not a number from 0 to 100000',
      '  - DOCMIRROR_RETRIES (.env): "many" is not a whole number from 0 to 100',
      '  - --timezone: "Mars/Olympus" is not the IANA name of a time zone, such as Europe/Berlin',
    ]);
  });

  it.each([
    ["DOCMIRROR_DATABASE_URL", "DATABASE_URL"],
    ["DOCMIRROR_SYNC_CRONN", "DOCMIRROR_SYNC_CRON"],
    ["docmirror_rate", "DOCMIRROR_RATE"],
    ["DOCMIRROR_TIME_ZONE", "DOCMIRROR_TIMEZONE"],
    ["DOCMIRROR_PORT", "DOCMIRROR_HTTP_PORT"],
    ["DOCMIRROR_BASE_URL_FIEL", "DOCMIRROR_BASE_URL_FILE"],
  ])("%s is answered with %s", (wrong, right) => {
    expect(faultsOf({ env: { [wrong]: "1" } })).toContain(`did you mean ${right}?`);
  });

  it.each<[given: Record<string, string>, message: string | null]>([
    [{ BACKUP_CRON: "@daily" }, "DOCMIRROR_BACKUP_CRON: set DOCMIRROR_BACKUP_DIR too"],
    [{ BACKUP_DIR: "/backups" }, "DOCMIRROR_BACKUP_DIR: set DOCMIRROR_BACKUP_CRON too"],
    [{ BACKUP_CRON: "@daily", BACKUP_DIR: "/backups" }, null],
    [
      { EXPORT_CRON: "@daily" },
      "DOCMIRROR_EXPORT_CRON: set DOCMIRROR_EXPORT_DIR or DOCMIRROR_EXPORT_LOGS_DIR too",
    ],
    [
      { EXPORT_DIR: "/a", EXPORT_LOGS_DIR: "/b" },
      "DOCMIRROR_EXPORT_DIR and DOCMIRROR_EXPORT_LOGS_DIR: set DOCMIRROR_EXPORT_CRON too",
    ],
    [{ EXPORT_CRON: "@daily", EXPORT_LOGS_DIR: "/b" }, null],
  ])("a schedule without its folder is one, and the other way round: %o", (given, message) => {
    const env = Object.fromEntries(Object.entries(given).map(([name, text]) => [`DOCMIRROR_${name}`, text]));
    if (message === null) expect(load({ env }).config.backupKeep).toBe(14);
    else expect(faultsOf({ env })).toBe(`a setting cannot be used: ${message}`);
  });

  it("suggest nothing where nothing is near", () => {
    expect(faultsOf({ env: { DOCMIRROR_QUUXIFICATION_OF_EVERYTHING: "1" } })).not.toContain("did you mean");
  });

  it("leave other programs' variables alone", () => {
    const env = { PATH: "/bin", DATABASE_URI: "x", MY_DOCMIRROR_THING: "1" };
    expect(load({ env }).config.databaseUrl).toBeNull();
  });

  it.each([
    ["DATABASE_URL", ["mysql://db/x", "db.example.org", "postgres:db", "postgres://a b"]],
    ["DOCMIRROR_DATA_DIR", ["~/data"]],
    ["DOCMIRROR_BASE_URL", ["docs.example.org", "localhost:8000", "ftp://x", "http://"]],
    ["DOCMIRROR_BASE_URL", ["http://x/?a=1", "http://x/#", "http://x/api/v1/"]],
    ["DOCMIRROR_PAGE_SIZE", ["0", "1001", "ten", "1e2", "10.5", "-1", "0x10"]],
    ["DOCMIRROR_RATE", ["-1", "Infinity", "NaN", "5/s", "1e9", "."]],
    [
      "DOCMIRROR_CONTACT",
      ["me", "a b@c.d", "me@x.org (us)", "https://", "ftp://x", "me@x\u00e9.org", `a@${"b".repeat(200)}`],
    ],
    ["DOCMIRROR_CONCURRENCY", ["0", "65"]],
    ["DOCMIRROR_TIMEOUT_MS", ["0", "30s", "2147483648"]],
    ["DOCMIRROR_RETRIES", ["-1", "101"]],
    ["DOCMIRROR_MAX_BODY_MB", ["0", "512"]],
    [
      "DOCMIRROR_SYNC_CRON",
      ["99 99 * * *", "* * * *", "hourly", "*/99 * * * *", "0 0 30 2 *", "* * * * * * *"],
    ],
    ["DOCMIRROR_WATCH_CRON", ["60 * * * *", "*/0 * * * *"]],
    ["DOCMIRROR_FULL_EVERY_DAYS", ["0", "weekly"]],
    ["DOCMIRROR_TIMEZONE", ["Berlin", "+02:00", "Europe/", "UTC+2"]],
    ["DOCMIRROR_SOURCE_TIMEZONE", ["America/Chikago"]],
    ["DOCMIRROR_STUCK_AFTER", ["2", "0s", "h", "2 h", "-1h", "2hours", "1y"]],
    ["DOCMIRROR_REPLICA_LAG", ["10", "-1s", "0", "8d"]],
    ["DOCMIRROR_MAX_DELETE_RATIO", ["1.01", "5%", "-0.1"]],
    ["DOCMIRROR_CONTENT", ["yes", "1", "true"]],
    ["DOCMIRROR_DOCS_URL", ["docs.example.org", "ftp://x", "http://x/?a=1", "http://x/#"]],
    ["DOCMIRROR_CONTENT_BUDGET", ["-1", "1441", "30m", "1e2"]],
    ["DOCMIRROR_HTTP_HOST", ["http://x", "x/y", "a b"]],
    ["DOCMIRROR_HTTP_PORT", ["65536", "-1", "http"]],
    ["DOCMIRROR_HTTP_RATE", ["-1", "fast", "10/s"]],
    ["DOCMIRROR_HTTP_CORS", ["docs.example.org", "https://a.example/", "https://a.example/path", "null"]],
    ["DOCMIRROR_HTTP_CORS", ["*,https://a.example"]],
    ["DOCMIRROR_LOG_LEVEL", ["loud", "verbose"]],
    ["DOCMIRROR_LOG_FORMAT", ["xml"]],
  ])("%s refuses nonsense", (name, texts) => {
    for (const text of texts)
      expect(faultsOf({ env: { [name]: text } }), text).toContain(`${name} (environment):`);
  });

  it("a .env that cannot be opened is one", () => {
    rmSync(cwd, { recursive: true });
    writeFileSync(cwd, "a file where a folder is meant");
    expect(faultsOf({})).toContain(".env: ");
  });
});

describe(".env", () => {
  const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le");
  const write = (bytes: string | Buffer) => writeFileSync(join(cwd, ".env"), bytes);
  const URL = "postgres://u@h/db";

  it.each([
    ["with a byte order mark", `\uFEFFDATABASE_URL=${URL}\n`],
    ["in UTF-16 as PowerShell writes it", utf16(`DATABASE_URL=${URL}\r\n`)],
    ["in UTF-16 of the other order", utf16(`DATABASE_URL=${URL}\n`).swap16()],
    ["with the line ends of an old Mac", `# x\rDATABASE_URL=${URL}\r`],
    [
      "with export, blanks and a comment in Latin-1",
      Buffer.from(`# für\n export DATABASE_URL = ${URL} # x\n`, "latin1"),
    ],
    ["behind a value of several lines", `OTHER='a\nb="c\n'\nDATABASE_URL="${URL}" # x\n`],
  ])("is read %s", (_which, bytes) => {
    write(bytes);
    expect(load().config.databaseUrl).toBe(URL);
  });

  it.each([
    ["ab#cd", "ab#cd"],
    ["#cd", "#cd"],
    ["ab #cd", "ab"],
    ["'ab #\"\\n'", 'ab #"\\n'],
    ['"ab #\'\\n" # x', "ab #'\n"],
    ["`a\"'b`", "a\"'b"],
  ])("takes %s as %s", (written, password) => {
    // A new line at the end of a password is cut, from wherever it comes.
    write(`DOCMIRROR_DATABASE_PASSWORD=${written}\n`);
    expect(load().config.databasePassword).toBe(password.replace(/\n$/, ""));
  });

  it.each([
    ["DATABASE_URL postgres://u@h/db", "it is not of the form NAME=value"],
    ["DATABASE_URL: postgres://u@h/db?a=1", "it is not of the form NAME=value"],
    ['A="x', 'the quote " has no end'],
    ["A='it's'", "there is text behind the second '"],
    [Buffer.from("A=für", "latin1"), "it is not text in UTF-8"],
    [Buffer.from("A=x", "utf16le"), "it is not text in UTF-8"],
  ])("names the line that cannot be read: %s", (line, why) => {
    write(Buffer.concat([Buffer.from("# first\nDOCMIRROR_RATE=no\n"), Buffer.from(line)]));
    const [, unread, rate] = faultsOf({}).split("\n");
    expect([unread, rate]).toEqual([
      expect.stringContaining(`.env, line 3: ${why}`),
      expect.stringContaining("_RATE"),
    ]);
  });

  it.each([
    ["DATABSE_URL", "DATABASE_URL"],
    ["DATABASE_ULR", "DATABASE_URL"],
    ["database_url", "DATABASE_URL"],
    ["DOC_MIRROR_RATE", "DOCMIRROR_RATE"],
    ["DOCMIROR_BASE_URL_FILE", "DOCMIRROR_BASE_URL_FILE"],
  ])("has %s, which is answered with %s", (wrong, right) => {
    write(`${wrong}=1\n`);
    expect(faultsOf({})).toContain(`${wrong} (.env): there is no such setting; did you mean ${right}?`);
  });

  it("has names of other programs, also such as DATABASE_URI where DATABASE_URL is there", () => {
    const others = "DATABASE_USER=x\nBASE_URL=x\nHTTP_PORT=x\nREDIS_URL=x\nDATABASE_URI=x\n";
    write(`${others}DATABASE_URL=\n`);
    expect(load().config.databaseUrl).toBeNull();
    write(others);
    expect(load({ flags: { "database-url": URL } }).config.databaseUrl).toBe(URL);
  });

  it("is like a file that NAME_FILE names: a byte order mark is no part of it, and other bytes are refused", () => {
    const env = { DOCMIRROR_DATABASE_PASSWORD_FILE: "password" };
    writeFileSync(join(cwd, "password"), utf16("secret\r\n"));
    expect(load({ env }).config.databasePassword).toBe("secret");
    writeFileSync(join(cwd, "password"), Buffer.from("für", "latin1"));
    expect(faultsOf({ env })).toMatch(/password is not text in UTF-8$/);
  });
});

describe("values", () => {
  it.each([
    ["stuck-after", "90s", { stuckAfterMs: 90_000 }],
    ["replica-lag", "0s", { replicaLagMs: 0 }],
    ["replica-lag", "7d", { replicaLagMs: 604_800_000 }],
    ["stuck-after", "1h30m", { stuckAfterMs: 5_400_000 }],
    ["stuck-after", "1.5d", { stuckAfterMs: 129_600_000 }],
    ["rate", "0", { ratePerSecond: 0 }],
    ["rate", "0.25", { ratePerSecond: 0.25 }],
    ["contact", "docs+mirror@example.org", { contact: "docs+mirror@example.org" }],
    ["contact", "https://example.org/~bot?x=1#us", { contact: "https://example.org/~bot?x=1#us" }],
    ["http-host", "[::1]", { httpHost: "::1" }],
    ["http-port", "0", { httpPort: 0 }],
    ["log-level", "DEBUG", { logLevel: "debug" }],
    ["max-delete-ratio", "1", { maxDeleteRatio: 1 }],
    ["sync-cron", "*/15 2-4 * * mon", { syncCron: "*/15 2-4 * * mon" }],
    ["sync-cron", "@daily", { syncCron: "@daily" }],
    ["timezone", "America/Argentina/Buenos_Aires", { timezone: "America/Argentina/Buenos_Aires" }],
    ["database-url", "postgres://u@h1:1,h2:2/db", { databaseUrl: "postgres://u@h1:1,h2:2/db" }],
    ["database-url", "postgresql://u@/db?host=/run/pg", { databaseUrl: "postgresql://u@/db?host=/run/pg" }],
    ["data-dir", "/srv/mirror", { dataDir: "/srv/mirror" }],
  ] as const)("--%s %s is understood", (flag, text, expected) => {
    expect(load({ flags: { [flag]: text } }).config).toMatchObject(expected);
  });

  it.each([
    ["https://docs.example.org", "https://docs.example.org/"],
    ["https://docs.example.org/", "https://docs.example.org/"],
    ["http://h:8000/old/docs//", "http://h:8000/old/docs"],
    ["http://u:p@h/x/", "http://u:p@h/x"],
  ])("the base URL %s becomes %s", (text, href) => {
    expect(load({ flags: { "base-url": text } }).config.baseUrl?.href).toBe(href);
  });

  it("a base URL that is missing where it is needed says how to give it", () => {
    expect(() => requireBaseUrl(load().config)).toThrow(/DOCMIRROR_BASE_URL is not set/);
  });
});

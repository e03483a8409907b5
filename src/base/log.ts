import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import { nameSources } from "./config/program.ts";

export type { Logger } from "pino";

interface LogOptions {
  level: string;
  format: "pretty" | "json";
  colour: boolean;
  /** Removes what a terminal would obey from each written text. It leaves JSON and colours as they are. */
  clean(text: string): string;
}

/** Lines that wait for a full disk. Later ones are lost. */
const MOST_WAITING = 1024 * 1024;

const SECRETS = ["password", "databasePassword", "databaseUrl", "readUrl"];

/** The log goes to stderr: stdout is for data. Fields that may hold secrets are masked. */
export async function createLog(options: LogOptions): Promise<Logger> {
  const base = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: { paths: [...SECRETS, ...SECRETS.map((name) => `*.${name}`), "authorization"], censor: "***" },
  };
  const stderr = pino.destination({ dest: 2, sync: true, maxLength: MOST_WAITING });
  // A log that cannot be written, as on a full disk, ends no work.
  stderr.on("error", () => {});
  const write = (text: string) => void stderr.write(options.clean(nameSources(text)));
  if (options.format === "json") return pino(base, { write });
  const { default: pretty } = await import("pino-pretty");
  const destination = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      write(text.toString());
      done();
    },
  });
  const look = { translateTime: "SYS:HH:MM:ss", hideObject: true, messageFormat: prettyMessage };
  return pino(base, pretty({ destination, colorize: options.colour, ...look }));
}

/** A log that writes nothing, for tests and for library use. */
export const silentLog: Logger = pino({ level: "silent" });

/** The facts that are shown elsewhere in a line, or in front of its sentence. */
const SHOWN = new Set(["level", "time", "msg", "run_id", "resource"]);

/**
 * A line of the log for people, after its time and level: the run and the list in front of the sentence, short
 * facts behind it, and each longer one on a line of its own, as it is, so that a command can be copied.
 */
export function prettyMessage(line: Record<string, unknown>): string {
  const run = line.run_id === undefined ? undefined : `run ${line.run_id}`;
  const about = [run, line.resource].filter((part) => part !== undefined).join(" ");
  const short: string[] = [];
  const long: string[] = [];
  for (const [name, value] of Object.entries(line)) {
    if (SHOWN.has(name) || value === undefined) continue;
    const text = textOf(value);
    if (/[\s"{[]/.test(text)) long.push(`\n    ${name}: ${text}`);
    else short.push(` ${name}=${text}`);
  }
  return `${about && `${about}: `}${String(line.msg ?? "")}${short.join("")}${long.join("")}`;
}

/** Foreign text must not look like a line of its own. The lines of a stack are indented. */
function textOf(value: unknown): string {
  if (isError(value)) return value.stack.replaceAll("\n", "\n      ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replaceAll("\r", "\\r").replaceAll("\n", "\\n");
}

function isError(value: unknown): value is { stack: string } {
  return typeof value === "object" && value !== null && "stack" in value && typeof value.stack === "string";
}

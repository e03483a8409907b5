import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import { nameSources } from "./log/name-sources.ts";
import { prettyMessage } from "./log/pretty-message.ts";

export type { Logger } from "pino";

export interface LogOptions {
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

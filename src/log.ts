import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { printableColoured, printableJson } from "./printable.ts";

export type { Logger } from "pino";

export interface LogOptions {
  level: string;
  format: "pretty" | "json";
  colour: boolean;
}

/**
 * The log goes to stderr: stdout is for data. Fields that may carry secrets are masked wherever they stand, and what a terminal would obey in
 * foreign text is written by its number.
 */
export function createLog(options: LogOptions): Logger {
  const base = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: {
      paths: ["password", "*.password", "databaseUrl", "*.databaseUrl", "authorization"],
      censor: "***",
    },
  };
  const stderr = pino.destination({ dest: 2, sync: true });
  if (options.format === "json")
    return pino(base, { write: (line) => void stderr.write(printableJson(line)) });
  return pino(
    base,
    pretty({
      destination: new Writable({
        decodeStrings: false,
        write(text: string | Buffer, _encoding, done) {
          stderr.write(printableColoured(text.toString()));
          done();
        },
      }),
      colorize: options.colour,
      translateTime: "SYS:HH:MM:ss",
      ignore: "pid,hostname",
    }),
  );
}

/** A log that says nothing, for tests and for library use. */
export const silentLog: Logger = pino({ level: "silent" });

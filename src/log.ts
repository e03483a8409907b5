import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import pretty from "pino-pretty";

export type { Logger } from "pino";

export interface LogOptions {
  level: string;
  format: "pretty" | "json";
  colour: boolean;
  /** What all that is written passes: takes away what a terminal would obey in foreign text. Must leave JSON and colours as they are. */
  clean(text: string): string;
}

/** The log goes to stderr: stdout is for data. Fields that may carry secrets are masked wherever they stand. */
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
    return pino(base, { write: (line) => void stderr.write(options.clean(line)) });
  return pino(
    base,
    pretty({
      destination: new Writable({
        decodeStrings: false,
        write(text: string | Buffer, _encoding, done) {
          stderr.write(options.clean(text.toString()));
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

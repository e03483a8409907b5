import { type Logger, pino } from "pino";
import pretty from "pino-pretty";

export type { Logger } from "pino";

export interface LogOptions {
  level: string;
  format: "pretty" | "json";
  colour: boolean;
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
  if (options.format === "json") return pino(base, pino.destination({ dest: 2, sync: true }));
  return pino(
    base,
    pretty({
      destination: 2,
      sync: true,
      colorize: options.colour,
      translateTime: "SYS:HH:MM:ss",
      ignore: "pid,hostname",
    }),
  );
}

/** A log that says nothing, for tests and for library use. */
export const silentLog: Logger = pino({ level: "silent" });

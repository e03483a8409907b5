import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import { nameSources } from "./log/name-sources.ts";
import { prettyMessage } from "./log/pretty-message.ts";

export type { Logger } from "pino";

export interface LogOptions {
  level: string;
  format: "pretty" | "json";
  colour: boolean;
  /**
   * Every written text goes through this. It removes what a terminal would obey in foreign text. It must
   * leave JSON and colours as they are.
   */
  clean(text: string): string;
}

/** The log goes to stderr: stdout is for data. Fields that may hold secrets are masked. */
export function createLog(options: LogOptions): Logger {
  const base = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: {
      paths: [
        "password",
        "*.password",
        "databasePassword",
        "*.databasePassword",
        "databaseUrl",
        "*.databaseUrl",
        "readUrl",
        "*.readUrl",
        "authorization",
      ],
      censor: "***",
    },
  };
  const stderr = pino.destination({ dest: 2, sync: true });
  const write = (text: string) => void stderr.write(options.clean(nameSources(text)));
  if (options.format === "json") return pino(base, { write });
  return pino(
    base,
    pretty({
      destination: new Writable({
        decodeStrings: false,
        write(text: string | Buffer, _encoding, done) {
          write(text.toString());
          done();
        },
      }),
      colorize: options.colour,
      translateTime: "SYS:HH:MM:ss",
      hideObject: true,
      messageFormat: prettyMessage,
    }),
  );
}

/** A log that writes nothing, for tests and for library use. */
export const silentLog: Logger = pino({ level: "silent" });

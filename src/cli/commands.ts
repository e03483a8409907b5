import type { Command } from "commander";

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Loads the command's own file, which may import whatever the command needs. */
  load(): Promise<(summary: string) => Command>;
}

/**
 * Every command in the order of the help. Only the one that was asked for is loaded, so that `--help` and a small
 * command start at once. A new command is one line here and one file `<name>-command.ts`.
 */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "the whole product in one go, offline",
    load: async () => (await import("./demo-command.ts")).demoCommand,
  },
  {
    name: "sync",
    summary: "one run, then exit",
    load: async () => (await import("./sync-command.ts")).syncCommand,
  },
  {
    name: "watch",
    summary: "follows builds that have not finished, and finds new ones",
    load: async () => (await import("./watch-command.ts")).watchCommand,
  },
  {
    name: "worker",
    summary: "the long-running process: nightly sync, watch, and the report page",
    load: async () => (await import("./worker-command.ts")).workerCommand,
  },
  {
    name: "serve",
    summary: "the report page over the mirror; never asks upstream",
    load: async () => (await import("./serve-command.ts")).serveCommand,
  },
  {
    name: "status",
    summary: "freshness, last runs, open and stuck builds",
    load: async () => (await import("./status-command.ts")).statusCommand,
  },
  {
    name: "doctor",
    summary: "checks settings, database, service and time zone, and says how to mend each fault",
    load: async () => (await import("./doctor-command.ts")).doctorCommand,
  },
  {
    name: "report",
    summary: "how often builds succeed, what fails, how long it takes: a view of the schema report",
    load: async () => (await import("./report-command.ts")).reportCommand,
  },
  {
    name: "export",
    summary: "the builds, projects, versions and the calendar as Parquet or CSV files",
    load: async () => (await import("./export-command.ts")).exportCommand,
  },
  {
    name: "explain",
    summary: "every sighting of a build, and why each bound of its times is what it is",
    load: async () => (await import("./explain-command.ts")).explainCommand,
  },
  {
    name: "get",
    summary: "asks upstream: a list, a record or a schema",
    load: async () => (await import("./get-command.ts")).getCommand,
  },
  {
    name: "quarantine",
    summary: "lists records that could not be stored, and tries them again",
    load: async () => (await import("./quarantine-command.ts")).quarantineCommand,
  },
  {
    name: "migrate",
    summary: "brings the schema up to date",
    load: async () => (await import("./migrate-command.ts")).migrateCommand,
  },
  {
    name: "grant-reader",
    summary: "gives a role the right to read the schema report and nothing else",
    load: async () => (await import("./grant-reader-command.ts")).grantReaderCommand,
  },
  {
    name: "reclassify",
    summary: "applies changed error rules to stored failures",
    load: async () => (await import("./reclassify-command.ts")).reclassifyCommand,
  },
  {
    name: "prune",
    summary: "thins old changes and runs, never transitions",
    load: async () => (await import("./prune-command.ts")).pruneCommand,
  },
  {
    name: "simulate",
    summary: "runs the simulated service alone",
    load: async () => (await import("./simulate-command.ts")).simulateCommand,
  },
  {
    name: "database",
    summary: "runs the embedded Postgres in the foreground and prints its URL",
    load: async () => (await import("./database-command.ts")).databaseCommand,
  },
  {
    name: "config",
    summary: "prints the settings in force and where each came from, secrets masked",
    load: async () => (await import("./config-command.ts")).configCommand,
  },
];

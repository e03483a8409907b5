import type { CommandEntry } from "./usage/create-command.ts";

/** Every command in the order of the help. Only the chosen one is loaded, so that small commands start fast. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "shows the whole product offline, with a simulated service",
    load: async () => (await import("./demo/demo-command.ts")).demoCommand,
  },
  {
    name: "sync",
    summary: "mirrors the service in one run, then exits",
    load: async () => (await import("./sync/sync-command.ts")).syncCommand,
  },
  {
    name: "watch",
    summary: "follows builds that have not finished, and finds new ones",
    load: async () => (await import("./watch-command.ts")).watchCommand,
  },
  {
    name: "worker",
    summary: "runs until it is stopped: nightly sync, watch, report page and API; a second one stands by",
    load: async () => (await import("./worker/worker-command.ts")).workerCommand,
  },
  {
    name: "serve",
    summary: "serves the report page and the service's API from the mirror; never asks upstream",
    load: async () => (await import("./serve-command.ts")).serveCommand,
  },
  {
    name: "status",
    summary: "shows freshness, who leads, last and next runs, open builds",
    load: async () => (await import("./status-command.ts")).statusCommand,
  },
  {
    name: "doctor",
    summary: "checks settings, database, service and time zone, and says how to repair each fault",
    load: async () => (await import("./doctor/doctor-command.ts")).doctorCommand,
  },
  {
    name: "verify",
    summary: "compares random records with the service, and says how right the mirror is",
    load: async () => (await import("./verify-command.ts")).verifyCommand,
  },
  {
    name: "report",
    summary: "prints a view of the schema report: how often builds succeed, what fails, how long builds take",
    load: async () => (await import("./report-command.ts")).reportCommand,
  },
  {
    name: "sql",
    summary: "runs one query of the schema report with the rights of a reader",
    load: async () => (await import("./sql-command.ts")).sqlCommand,
  },
  {
    name: "export",
    summary: "writes builds, projects, versions and the calendar as Parquet or CSV files",
    load: async () => (await import("./export-command.ts")).exportCommand,
  },
  {
    name: "backup",
    summary: "writes the whole mirror into one file, while runs go on",
    load: async () => (await import("./backup-command.ts")).backupCommand,
  },
  {
    name: "restore",
    summary: "restores a backup into a place without a mirror",
    load: async () => (await import("./restore-command.ts")).restoreCommand,
  },
  {
    name: "explain",
    summary: "shows every sighting of a build, and the reason for each bound of its times",
    load: async () => (await import("./explain/explain-command.ts")).explainCommand,
  },
  {
    name: "get",
    summary: "asks upstream for a list, a record or a schema, or searches its files",
    load: async () => (await import("./get/get-command.ts")).getCommand,
  },
  {
    name: "quarantine",
    summary: "lists records that could not be stored, and tries them again",
    load: async () => (await import("./quarantine-command.ts")).quarantineCommand,
  },
  {
    name: "notify",
    summary: "lists the notices to the webhook, tests it, sends again what was given up",
    load: async () => (await import("./notify-command.ts")).notifyCommand,
  },
  {
    name: "migrate",
    summary: "brings the schema up to date",
    load: async () => (await import("./migrate-command.ts")).migrateCommand,
  },
  {
    name: "grant-reader",
    summary: "gives a role the right to read the schema report, or all that serve reads",
    load: async () => (await import("./grant-reader-command.ts")).grantReaderCommand,
  },
  {
    name: "reclassify",
    summary: "applies changed error rules to stored failures",
    load: async () => (await import("./reclassify-command.ts")).reclassifyCommand,
  },
  {
    name: "prune",
    summary: "removes old changes and runs, never transitions",
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
  {
    name: "completion",
    summary: "prints a script that completes commands and flags in bash, zsh or fish",
    load: async () => (await import("./completion-command.ts")).completionCommand,
  },
];

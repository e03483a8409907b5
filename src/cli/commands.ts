import type { CommandEntry } from "./usage/create-command.ts";

/** Every command in the order of the help. Only the chosen one is loaded, so that small commands start fast. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "shows the whole product offline, with a simulated service",
    load: () => import("./demo/demo-command.ts"),
  },
  {
    name: "sync",
    summary: "mirrors the service in one run, then exits",
    load: () => import("./sync/sync-command.ts"),
  },
  {
    name: "watch",
    summary: "follows builds that have not finished, and finds new ones",
    load: () => import("./watch-command.ts"),
  },
  {
    name: "worker",
    summary: "runs until it is stopped: nightly sync, watch, report page and API; a second one stands by",
    load: () => import("./worker/worker-command.ts"),
  },
  {
    name: "serve",
    summary: "serves the report page and the service's API from the mirror; never asks upstream",
    load: () => import("./serve-command.ts"),
  },
  {
    name: "status",
    summary: "shows freshness, who leads, last and next runs, open builds",
    load: () => import("./status-command.ts"),
  },
  {
    name: "doctor",
    summary: "checks settings, database, service and time zone, and says how to repair each fault",
    load: () => import("./doctor/doctor-command.ts"),
  },
  {
    name: "verify",
    summary: "compares random records with the service, and says how right the mirror is",
    load: () => import("./verify-command.ts"),
  },
  {
    name: "report",
    summary: "prints a view of the schema report: how often builds succeed, what fails, how long builds take",
    load: () => import("./report-command.ts"),
  },
  {
    name: "sql",
    summary: "runs one query of the schema report with the rights of a reader",
    load: () => import("./sql-command.ts"),
  },
  {
    name: "export",
    summary: "writes builds, projects, versions and the calendar as Parquet or CSV files",
    load: () => import("./export-command.ts"),
  },
  {
    name: "backup",
    summary: "writes the whole mirror into one file, while runs go on",
    load: () => import("./backup-command.ts"),
  },
  {
    name: "restore",
    summary: "restores a backup into a place without a mirror",
    load: () => import("./restore-command.ts"),
  },
  {
    name: "explain",
    summary: "shows every sighting of a build, and the reason for each bound of its times",
    load: () => import("./explain-command.ts"),
  },
  {
    name: "get",
    summary: "asks upstream for a list, a record or a schema, or searches its files",
    load: () => import("./get/get-command.ts"),
  },
  {
    name: "quarantine",
    summary: "lists records that could not be stored, and tries them again",
    load: () => import("./quarantine-command.ts"),
  },
  {
    name: "notify",
    summary: "lists the notices to the webhook, tests it, sends again what was given up",
    load: () => import("./notify-command.ts"),
  },
  {
    name: "migrate",
    summary: "brings the schema up to date",
    load: () => import("./migrate-command.ts"),
  },
  {
    name: "grant-reader",
    summary: "gives a role the right to read the schema report, or all that serve reads",
    load: () => import("./grant-reader-command.ts"),
  },
  {
    name: "reclassify",
    summary: "applies changed error rules to stored failures",
    load: () => import("./reclassify-command.ts"),
  },
  {
    name: "prune",
    summary: "removes old changes and runs, never transitions",
    load: () => import("./prune-command.ts"),
  },
  {
    name: "forget",
    summary: "removes the names of a person from records, history, notices and logs",
    load: () => import("./forget-command.ts"),
  },
  {
    name: "simulate",
    summary: "runs the simulated service alone",
    load: () => import("./simulate-command.ts"),
  },
  {
    name: "database",
    summary: "runs the embedded Postgres in the foreground and prints its URL",
    load: () => import("./database-command.ts"),
  },
  {
    name: "config",
    summary: "prints the settings in force and where each came from, secrets masked",
    load: () => import("./config-command.ts"),
  },
  {
    name: "completion",
    summary: "prints a script that completes commands and flags in bash, zsh or fish",
    load: () => import("./completion-command.ts"),
  },
];

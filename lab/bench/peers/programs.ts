import { fileURLToPath } from "node:url";
import type { Python } from "./python-packages.ts";

/** A program that copies the service's lists into Postgres. */
export interface Program {
  name: string;
  /** The command line of a night. `folder` is its own and stays from night to night. */
  command(serviceUrl: string, databaseUrl: string, folder: string): [file: string, ...args: string[]];
  env: Record<string, string>;
  /** Whether its pages may have other sizes than those of floor.ts, so that only the program itself can have them made. */
  choosesPages: boolean;
  /** The query for the ids of the builds that it has. */
  builds: string;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const CONCURRENCY = 8;

/** All of them. docmirror reads every list each night, as it does for a service of this size. */
export function listPrograms({ file: python, env }: Python, rate: string): Program[] {
  const loop = (limit: number): Program => ({
    name: `the loop, ${limit} a page`,
    command: (service, database) => [python, here("loop.py"), service, database, String(limit), rate],
    env,
    choosesPages: limit !== 100,
    builds: "select id from builds",
  });
  const dlt = (strategy: string): Program => ({
    name: `dlt, ${strategy}`,
    command: (service, database, folder) => [
      python,
      ...[here("load-with-dlt.py"), service, database, folder, strategy],
    ],
    env,
    choosesPages: false,
    builds: "select id from peer.build",
  });
  return [
    {
      name: "docmirror",
      command: (service, database) => [
        ...([process.execPath, here("../../../bin/docmirror.js"), "sync", "--full"] as const),
        ...["--rate", rate, "--concurrency", String(CONCURRENCY), "--log-level", "error"],
        ...["--base-url", service, "--database-url", database],
      ],
      env: {},
      choosesPages: true,
      builds: "select id from mirror.builds where deleted_at is null",
    },
    ...[loop(100), loop(1000)],
    // It has no limit of its own.
    ...(rate === "0" ? [dlt("delete-insert"), dlt("upsert")] : []),
  ];
}

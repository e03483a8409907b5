import type { Command } from "commander";
import { zone } from "../base/config/setting-values.ts";
import { ConfigError } from "../base/errors.ts";
import { startSimulation } from "../simulate/service.ts";
import type { WorldOptions } from "../simulate/settings.ts";
import { createWorld } from "../simulate/world.ts";
import { runCommand } from "./context/run-command.ts";
import { untilStopped } from "./context/until-stopped.ts";
import { createCommand } from "./usage/create-command.ts";
import { decimalOption, wholeOption } from "./usage/number-option.ts";

interface Options
  extends Pick<WorldOptions, "users" | "projects" | "versions" | "files" | "builds" | "seed"> {
  host?: string;
  port?: number;
  speed?: number;
  timeZone?: string;
  latencyMs?: number;
  json?: true;
}

const COUNT = { min: 0, max: 10_000_000 };

export function simulateCommand(summary: string): Command {
  return createCommand({
    name: "simulate",
    summary,
    settings: [],
    examples: [
      ["simulate", "prints the base URL and serves until Ctrl-C"],
      ["simulate --port 8000 --speed 600", "ten virtual minutes pass in a second"],
      ["sync --base-url http://127.0.0.1:8000", "mirrors it, from another terminal"],
    ],
  })
    .addOption(wholeOption("--users <count>", "users at the start [default 800]", COUNT))
    .addOption(wholeOption("--projects <count>", "projects at the start [default 700]", COUNT))
    .addOption(
      wholeOption(
        "--versions <count>",
        "versions at the start, one a project at least [default 3000]",
        COUNT,
      ),
    )
    .addOption(wholeOption("--files <count>", "files at the start [default 3500]", COUNT))
    .addOption(wholeOption("--builds <count>", "builds at the start [default 7000]", COUNT))
    .addOption(
      wholeOption("--seed <number>", "equal seeds give equal worlds [default 1]", {
        min: 0,
        max: 2 ** 32 - 1,
      }),
    )
    .addOption(
      wholeOption("--port <port>", "where to listen; 0 takes a free one [default 0]", {
        min: 0,
        max: 65_535,
      }),
    )
    .addOption(
      decimalOption("--speed <factor>", "virtual seconds a second; 0 stops the clock [default 1]", {
        min: 0,
        max: 1e6,
      }),
    )
    .option("--host <address>", "where to listen; 0.0.0.0 lets other machines in [default 127.0.0.1]")
    .option("--time-zone <zone>", "the zone of all dates on the wire, an IANA name [default Etc/UTC]")
    .addOption(
      wholeOption("--latency-ms <ms>", "the wait before each reply [default 0]", { min: 0, max: 600_000 }),
    )
    .option("--json", "print one JSON document")
    .action(
      runCommand<Options>(async ({ log, signal, out }, { options }) => {
        const { host = "127.0.0.1", port = 0, speed = 1, latencyMs = 0, timeZone = "Etc/UTC" } = options;
        const { users, projects, versions, files, builds, seed } = options;
        assertZone(timeZone);
        const sizes = { users, projects, versions, files, builds, seed };
        const world = createWorld({ ...given(sizes), timeZone });
        const service = await startSimulation({ world, host, port, speed, latencyMs }).catch(
          (error: unknown) => {
            throw portError(error, port);
          },
        );
        try {
          if (options.json) await out.json({ url: service.url, settings: world.settings });
          else await out.write(`${service.url}\n`);
          log.info({ url: service.url, speed }, "the simulated service is up; Ctrl-C ends it");
          return await untilStopped(signal);
        } finally {
          await service.close();
        }
      }),
    );
}

function assertZone(text: string): void {
  const parsed = zone(text);
  if ("value" in parsed) return;
  throw new ConfigError(`--time-zone: "${text}" ${parsed.fault}`, {
    hint: "see `docmirror simulate --help`",
  });
}

function given<T extends Record<string, number | undefined>>(sizes: T): { [K in keyof T]?: number } {
  return Object.fromEntries(Object.entries(sizes).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: number;
  };
}

function portError(error: unknown, port: number): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "EADDRINUSE" && code !== "EACCES") return error;
  const reason = code === "EADDRINUSE" ? "another program listens there" : "the rights for it are missing";
  return new ConfigError(`could not listen on port ${port}: ${reason}`, {
    cause: error,
    hint: "choose another port, or omit --port to get a free one",
  });
}

import { systemClock } from "../base/clock.ts";
import { decimal, type Parse, zone } from "../base/config/setting.ts";
import { toListenError } from "../base/errors.ts";
import { startSimulation } from "../simulate/service.ts";
import type { WorldOptions } from "../simulate/settings.ts";
import { createWorld } from "../simulate/world.ts";
import { untilStopped } from "./context/run-command.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parsedBy, wholeFrom } from "./usage/flag-values.ts";

interface Options
  extends Pick<WorldOptions, "users" | "projects" | "versions" | "files" | "builds" | "seed"> {
  host?: string;
  port?: number;
  start?: Date;
  speed?: number;
  timeZone?: string;
  latencyMs?: number;
  json?: true;
}

const COUNT = wholeFrom(0, 10_000_000);

const LISTEN_HINT = "choose another with --host and --port, or omit --port to get a free one";

/** A day, at noon of UTC. The world has years before it, and may live for years: dates have four digits for the year. */
const day: Parse<Date> = (text) => {
  const noon = new Date(`${text}T12:00:00Z`);
  const isDay = /^[12]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(noon.getTime());
  // JavaScript reads the 31st of June as the 1st of July.
  return isDay && noon.toISOString().startsWith(text)
    ? { value: noon }
    : { fault: "is not a day such as 2024-05-15" };
};

export const command: CommandDeclaration<Options> = {
  settings: [],
  examples: [
    ["simulate", "prints the base URL and serves until Ctrl-C"],
    ["simulate --port 8000 --speed 600 --start 2024-05-15", "ten virtual minutes pass in a second"],
    ["sync --base-url http://127.0.0.1:8000", "mirrors it, from another terminal"],
  ],
  hasJson: true,
  flags: (command) =>
    command
      .option("--users <count>", "users at the start [default 800]", COUNT)
      .option("--projects <count>", "projects at the start [default 700]", COUNT)
      .option("--versions <count>", "versions at the start, one a project at least [default 3000]", COUNT)
      .option("--files <count>", "files at the start [default 3500]", COUNT)
      .option("--builds <count>", "builds at the start [default 7000]", COUNT)
      .option(
        "--seed <number>",
        "equal seeds and days give equal worlds [default 1]",
        wholeFrom(0, 2 ** 32 - 1),
      )
      .option("--port <port>", "where to listen; 0 takes a free one [default 0]", wholeFrom(0, 65_535))
      .option("--start <day>", "where virtual time begins, at noon of UTC [default now]", parsedBy(day))
      .option(
        "--speed <factor>",
        "virtual seconds a second; 0 stops the clock [default 1]",
        parsedBy(decimal(0, 1e6)),
      )
      .option("--host <address>", "where to listen; 0.0.0.0 lets other machines in [default 127.0.0.1]")
      .option(
        "--time-zone <zone>",
        "the zone of all dates on the wire, an IANA name [default Etc/UTC]",
        parsedBy(zone),
      )
      .option("--latency-ms <ms>", "the wait before each reply [default 0]", wholeFrom(0, 600_000)),
  run: async ({ log, signal, print }, { options }) => {
    const { host = "127.0.0.1", port = 0, start, speed = 1, latencyMs = 0, json, ...worldOptions } = options;
    const world = createWorld({ ...worldOptions, startAt: start ?? systemClock.now() });
    // A mirror of it is fresh, as one of a real service is, however long the making of the world took.
    if (start === undefined) world.advanceTo(systemClock.now());
    const listening = { world, host, port, speed, latencyMs };
    const service = await startSimulation(listening).catch((error: unknown) => {
      throw toListenError(error, { host, port, hint: LISTEN_HINT });
    });
    try {
      const { url } = service;
      await print({ url, settings: world.settings }, () => `${url}\n`);
      log.info({ url, speed }, "the simulated service is up; Ctrl-C ends it");
      return await untilStopped(signal);
    } finally {
      await service.close();
    }
  },
};

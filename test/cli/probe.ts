import { LockedError, StoreError } from "../../src/base/errors.ts";
import { untilStopped } from "../../src/cli/context/run-command.ts";
import { listenForTheUnexpected } from "../../src/cli/output/print-error.ts";
import { createCommand } from "../../src/cli/usage/create-command.ts";

listenForTheUnexpected(false);

/** A command for the tests of runCommand: its one argument says how it behaves. */
const probe = createCommand(
  { name: "probe", summary: "behaves as told" },
  {
    settings: ["ratePerSecond"],
    examples: [["probe x", "x"]],
    flags: (command) => command.argument("<behaviour>"),
    async run({ log, signal, out, progress }, { args: [behaviour] }) {
      switch (behaviour) {
        case "bug":
          throw new TypeError("cannot read it\nsecond line");
        case "unawaited bug":
          void Promise.reject(new TypeError("nobody waited"));
          return untilStopped(signal);
        case "known error":
          throw new LockedError("could not start: run 7 holds the \u001b[2Jlock", {
            hint: "wait for it",
            cause: new Error("the cause"),
          });
        case "code":
          return 3;
        case "big":
          for (let part = 0; part < 64; part++) await out.write(`${String(part).padEnd(16_383, ".")}\n`);
          return 0;
        case "endless":
          for (;;) {
            signal.throwIfAborted();
            await out.write("line\n");
          }
        case "wait":
          await out.write("ready\n");
          try {
            return await untilStopped(signal);
          } finally {
            await out.write("cleaned up\n");
          }
        case "wrapped stop":
          await out.write("ready\n");
          return untilStopped(signal).catch((error) => {
            throw new StoreError("the query failed", { cause: error });
          });
        case "deaf":
          await out.write("ready\n");
          signal.addEventListener("abort", () => void out.write("heard\n"));
          return untilStopped(new AbortController().signal);
        case "log": {
          log.debug("a debug line");
          log.child({ resource: "build" }).info({ page: 2 }, "an info line");
          const bars = await progress();
          bars.update("build", { pages: 1, records: 100, totalCount: 200 });
          return 0;
        }
        default:
          return 0;
      }
    },
  },
);
await probe.parseAsync();

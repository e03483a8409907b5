// Docker's check of a worker: healthy while it is ready. Docker does not restart what is not healthy, so this ends a worker that has not
// said for a minute that it lives: its loop stands still. A database that is away is no reason, nor a start that takes its time.
//   node check-worker.mjs URL PARENT [MS]: PARENT is the process that started the worker, 1 in a container with an init.
import { readFileSync } from "node:fs";

const [url, parent, withinMs = "60000"] = process.argv.slice(2);

const ask = (path, ms) => fetch(`${url}${path}`, { signal: AbortSignal.timeout(ms) });

const silent = await ask("/livez", Number(withinMs)).then(
  () => false,
  (error) => error.name === "TimeoutError",
);
if (silent) {
  process.stdout.write("no answer: the worker is ended\n");
  // It would not notice another signal.
  for (const pid of readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").match(/\d+/g) ?? [])
    process.kill(Number(pid), "SIGKILL");
}
const isReady = await ask("/readyz", 10_000).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(isReady ? 0 : 1);

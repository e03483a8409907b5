// Docker's check of a worker: healthy while it is ready. Docker does not restart what is not healthy, so this ends a worker that has not
// said for a minute that it lives: its loop stands still. A database that is away is no reason, nor a start that takes its time.
//   node check-worker.mjs URL PARENT [MS]: PARENT is the process that started the worker, 1 in a container with an init.
import { readFileSync } from "node:fs";
import { get } from "node:http";

const [url, parent, withinMs = "60000"] = process.argv.slice(2);

/** The status of a reply. Without an agent Node asks no proxy, as `fetch` would where NODE_USE_ENV_PROXY is set. */
function ask(path, ms) {
  const signal = AbortSignal.timeout(ms);
  return new Promise((resolve, reject) => {
    get(`${url}${path}`, { agent: false, signal }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    }).on("error", (error) => reject(signal.aborted ? signal.reason : error));
  });
}

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
  (status) => status === 200,
  () => false,
);
process.exit(isReady ? 0 : 1);

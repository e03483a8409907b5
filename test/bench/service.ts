/** The simulated service in a process of its own, so that its memory and its work are not the mirror's. Told what to do by messages. */
import { startSimulation } from "../../src/simulate/service.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld } from "../../src/simulate/world.ts";

/** A request as the service saw it. */
export interface Arrival {
  atMs: number;
  /** Whether a page of a list was asked for, and not the root, a schema or a single record. */
  isPage: boolean;
}

const { sizes, latencyMs } = JSON.parse(process.argv[2] ?? "{}");
// Nothing happens but what is asked for, and nothing is open: a second night finds what the first one found.
const world = createWorld({
  ...sizes,
  seed: 7,
  rates: QUIET,
  stuckShare: 0,
  hiddenShare: 0,
  clockSteps: false,
});
world.advance(86_400_000);
let arrivals: Arrival[] = [];
const service = await startSimulation({
  world,
  latencyMs,
  cacheBytes: 512 * 1024 * 1024,
  intercept(request, next) {
    arrivals.push({ atMs: performance.now(), isPage: request.url.includes("limit=") });
    return next();
  },
});

process.on("message", (message: { trigger?: number; reset?: true; arrivals?: true }) => {
  if (message.trigger) {
    world.triggerBuilds(message.trigger);
    world.advance(86_400_000);
  }
  if (message.reset) arrivals = [];
  process.send?.(message.arrivals ? arrivals : "done");
});
process.on("disconnect", () => process.exit());
process.send?.({ url: service.url });

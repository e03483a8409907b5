/** The simulated service in a process of its own, so that its memory and its work are not the mirror's. Told what to do by messages. */

import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld, startSimulation } from "../../test/support/simulation.ts";

/** A request as the service saw it. */
export interface Arrival {
  /** Milliseconds since 1970. */
  atMs: number;
  asksFor: "root" | "schema" | "page" | "detail";
}

export interface ServiceOptions {
  /** How many records of each kind. */
  sizes: object;
  /** @default 0 */
  latencyMs?: number;
  /** Deletes the newest build after each page of builds, so that all older ones move up by one. */
  deletes?: boolean;
}

const { sizes, latencyMs = 0, deletes = false } = JSON.parse(process.argv[2] ?? "{}") as ServiceOptions;
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
const SIZE_OF_ALL = 1_000_000;
let arrivals: Arrival[] = [];
const service = await startSimulation({
  world,
  latencyMs,
  cacheBytes: 512 * 1024 * 1024,
  async intercept(request, next) {
    const asksFor = kindOf(request.url);
    arrivals.push({ atMs: performance.timeOrigin + performance.now(), asksFor });
    const reply = await next();
    if (deletes && asksFor === "page" && request.url.includes("/build/")) {
      const [newest] = await listBuilds(1);
      if (newest !== undefined) world.deleteRecord("build", newest);
    }
    return reply;
  },
});

function kindOf(url: string): Arrival["asksFor"] {
  if (url.includes("limit=")) return "page";
  const path = url.replace(/\?.*/, "");
  if (path.endsWith("/schema/")) return "schema";
  return path.endsWith("/v1/") ? "root" : "detail";
}

async function listBuilds(limit: number): Promise<string[]> {
  const { records } = await world.catalog().list("build", { filters: [], offset: 0, limit });
  return records.map(({ id }) => String(id));
}

interface Message {
  trigger?: number;
  reset?: true;
  arrivals?: true;
  /** The ids of all builds. */
  builds?: true;
}

process.on("message", async (message: Message) => {
  if (message.trigger) {
    world.triggerBuilds(message.trigger);
    world.advance(86_400_000);
  }
  if (message.reset) arrivals = [];
  if (message.builds) process.send?.(await listBuilds(SIZE_OF_ALL));
  else process.send?.(message.arrivals ? arrivals : "done");
});
process.on("disconnect", () => process.exit());
process.send?.({ url: service.url });

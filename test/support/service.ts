import { afterAll, beforeAll } from "vitest";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import {
  createWorld,
  type Simulation,
  type SimulationOptions,
  startSimulation,
  type World,
} from "./simulation.ts";

/** The sizes of a world of which a run takes no time. */
export const TINY: WorldOptions = { users: 5, projects: 4, versions: 6, files: 5, builds: 30 };

/** A simulated service of a world, or of one of these sizes, up to the end of its scope. */
export async function startService(world: World | WorldOptions, options: Partial<SimulationOptions> = {}) {
  const service = await startSimulation({
    world: "advance" in world ? world : createWorld(world),
    ...options,
  });
  return Object.assign(service, { [Symbol.asyncDispose]: service.close });
}

/** A service for all tests of a file. */
export function useService(...given: Parameters<typeof startService>): Pick<Simulation, "url" | "requests"> {
  let service: Simulation | undefined;
  beforeAll(async () => {
    service = await startService(...given);
  });
  afterAll(() => service?.close());
  return {
    get url() {
      return service?.url ?? "";
    },
    requests: () => (service as Simulation).requests(),
  };
}

/** Requests whose URL holds a text wait until the service ends. `reached` resolves with the first of them. */
export function createGate(closed: string) {
  let onReached = () => {};
  const reached = new Promise<void>((resolve) => {
    onReached = resolve;
  });
  const intercept: SimulationOptions["intercept"] = (request, next) => {
    if (!request.url.includes(closed)) return next();
    onReached();
    return new Promise((resolve) => request.signal.addEventListener("abort", () => resolve("hang up")));
  };
  return { reached, intercept };
}

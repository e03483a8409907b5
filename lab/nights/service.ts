/** The simulated service, whose troubles can be switched on and off. */
import { setTimeout as delay } from "node:timers/promises";
import { type Simulation, startSimulation, type World } from "../../test/support/simulation.ts";

const SLOW_MS = 150;
const USERS = /\/api\/v1\/user\/$/;

export interface Service {
  readonly url: string;
  /** Every request is answered by 503. */
  isAway: boolean;
  isSlow: boolean;
  /** Each user has a field that the interface does not know. */
  hasNewField: boolean;
  /** One user of each page has no id. */
  hasBadRecord: boolean;
  /** Stops the world at this moment, all troubles over. The address stays. */
  standStill(): Promise<void>;
  close(): Promise<void>;
}

interface UserPage {
  meta: unknown;
  objects: Record<string, unknown>[];
}

export async function startService(world: World, speed: number): Promise<Service> {
  let simulation: Simulation = await startSimulation({
    world,
    speed,
    async intercept(request, next) {
      if (service.isAway) return new Response("", { status: 503 });
      if (service.isSlow) await delay(SLOW_MS);
      const reply = await next();
      const isChanged = service.hasNewField || service.hasBadRecord;
      if (!isChanged || !reply.ok || !USERS.test(new URL(request.url).pathname)) return reply;
      const page = (await reply.json()) as UserPage;
      return Response.json({ ...page, objects: page.objects.map(change) });
    },
  });

  function change(user: Record<string, unknown>, place: number): Record<string, unknown> {
    const changed = service.hasNewField ? { ...user, pronouns: "they" } : user;
    return service.hasBadRecord && place === 0 ? { ...changed, id: null } : changed;
  }

  const service: Service = {
    url: simulation.url,
    isAway: false,
    isSlow: false,
    hasNewField: false,
    hasBadRecord: false,
    async standStill() {
      await simulation.close();
      simulation = await startSimulation({ world, port: Number(new URL(simulation.url).port) });
    },
    close: () => simulation.close(),
  };
  return service;
}

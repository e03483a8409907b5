import type { SimulationOptions } from "./simulation.ts";

/** Records that the service keeps from its lists; the value is what their details answer, 200 being the record itself. */
export type Kept = Map<string, number>;

/** A service that keeps some records back, and everything else where it is. */
export function keepBack(kept: Kept): NonNullable<SimulationOptions["intercept"]> {
  return async (request, next) => {
    const [resource = "", id] = new URL(request.url).pathname.split("/").slice(3);
    const reply = await next();
    if (id) {
      const status = kept.get(`${resource} ${id}`) ?? 200;
      return status === 200 ? reply : new Response(null, { status });
    }
    const held = [...kept.keys()].filter((key) => key.startsWith(`${resource} `));
    if (held.length === 0 || !reply.ok) return reply;
    const page = (await reply.json()) as { meta: { total_count: number }; objects: { id: string }[] };
    page.meta.total_count -= held.length;
    page.objects = page.objects.filter((record) => !kept.has(`${resource} ${record.id}`));
    return Response.json(page);
  };
}

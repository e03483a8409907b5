import type { BuildRecord } from "../../src/resources/resources.ts";
import { QUIET, type WorldOptions } from "../../src/simulate/settings.ts";
import { type Intercept, type QuickWorld, startQuickWorld } from "./quick-world.ts";
import type { World } from "./simulation.ts";

export type ArrangedBuilds = ReturnType<typeof arrangeBuilds>;
type Arrange = (builds: readonly BuildRecord[]) => readonly BuildRecord[];

/** A service whose list of builds the test puts in order, and whose details it may change. */
export function arrangeBuilds() {
  const arranged = {
    /** The service of this world is asked. To be set before the first request. */
    world: null as World | null,
    /** What becomes of the list of builds, newest first, each time it is asked for. */
    arrange: ((builds) => builds) as Arrange,
    /** How many more `total_count` says than there are. */
    counted: 0,
    /** The most builds of a page. */
    cap: Number.POSITIVE_INFINITY,
    /** The build that the service cannot render, nor any page with it. */
    bad: null as string | null,
    /** What single details answer instead of the service, by id. */
    details: new Map<string, Response | BuildRecord>(),
    /** Whether the connection is cut instead of an answer, by path and query. */
    fails: (_request: string) => false,
    /** Every request waits for it. */
    held: null as Promise<void> | null,
    /** What each request has asked for, path and query. */
    asked: [] as string[],
    async intercept(...[request, next]: Parameters<Intercept>): Promise<Awaited<ReturnType<Intercept>>> {
      const { pathname, search, searchParams } = new URL(request.url);
      arranged.asked.push(pathname + search);
      await arranged.held;
      if (arranged.fails(pathname + search)) return "hang up";
      const detail = arranged.details.get(/\/build\/([^/]+)\/$/.exec(pathname)?.[1] ?? "");
      if (detail) return detail instanceof Response ? detail.clone() : Response.json(detail);
      const isList = pathname === "/api/v1/build/" && !searchParams.has("state");
      if (!isList || !arranged.world) return next();
      // The service itself answers first, so that its time moves on.
      await next();
      const builds = arranged.arrange(await listBuilds(arranged.world));
      const limit = Math.min(arranged.cap, Number(searchParams.get("limit")));
      const offset = Number(searchParams.get("offset") ?? 0);
      const end = offset + limit;
      const meta = {
        limit,
        offset,
        previous: null,
        total_count: builds.length + arranged.counted,
        next: end < builds.length ? `${pathname}?format=json&limit=${limit}&offset=${end}` : null,
      };
      const objects = builds.slice(offset, end);
      if (objects.some(({ id }) => id === arranged.bad)) return new Response("", { status: 500 });
      return Response.json({ meta, objects });
    },
  };
  /** The builds of a moment are made once: most requests of a run ask for the same ones. */
  let made = { of: "", builds: [] as readonly BuildRecord[] };
  async function listBuilds(world: World): Promise<readonly BuildRecord[]> {
    const list = (limit: number) => world.catalog().list("build", { filters: [], offset: 0, limit });
    const of = `${(await list(0)).revision} ${world.now().getTime()}`;
    if (made.of !== of) made = { of, builds: (await list(100_000)).records };
    return made.builds;
  }
  return arranged;
}

export type ArrangedWorld = QuickWorld & { arranged: ArrangedBuilds };

/** A world in which nothing happens by itself and whose list of builds the test arranges, and a mirror of it, as `startQuickWorld` has it. */
export async function startArranged(options: WorldOptions, copyOf?: string): Promise<ArrangedWorld> {
  const arranged = arrangeBuilds();
  const still = { rates: QUIET, hiddenShare: 0, stuckShare: 0, clockSteps: false };
  const quick = await startQuickWorld({ ...still, ...options }, arranged.intercept, copyOf);
  arranged.world = quick.world;
  return Object.assign(quick, { arranged });
}

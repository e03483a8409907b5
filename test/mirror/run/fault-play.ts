/** How the faults of the matrix are played: what stands between the simulated service and the run. */

import type { Resource } from "../../../src/resources/resources.ts";
import { createRandom } from "../../../src/simulate/random.ts";
import type { Intercept } from "../../support/quick-world.ts";
import type { World } from "../../support/simulation.ts";

/** What a fault may need of the test that plays it. */
export interface Stage {
  world: World;
  /** The waits that the run asked for, in milliseconds; none of them takes time. */
  sleeps: readonly number[];
  elsewhere: string;
}

/** Made anew for each test, so that it may count. */
export type Play = (stage: Stage) => Intercept;

export type WireRecord = Record<string, unknown>;

export interface WirePage {
  meta: Record<string, unknown>;
  objects: WireRecord[];
}

/** A request for a page of a list, or for one record when it has an id. */
export interface Asked {
  resource: string;
  id: string | undefined;
  path: string;
  limit: number;
  offset: number;
}

export type IsMeant = (asked: Asked) => boolean;
export type Reply = (next: () => Promise<Response>, asked: Asked) => ReturnType<Intercept>;

function readRequest({ url }: Request): Asked {
  const { pathname, searchParams } = new URL(url);
  const [resource = "", id] = pathname.split("/").slice(3).filter(Boolean);
  const number = (name: string) => Number(searchParams.get(name) ?? 0);
  return { resource, id, path: pathname, limit: number("limit"), offset: number("offset") };
}

export function when(isMeant: IsMeant, reply: Reply): Intercept {
  return (request, next) => {
    const asked = readRequest(request);
    return isMeant(asked) ? reply(next, asked) : next();
  };
}

export function listOf(resource: Resource): IsMeant {
  return (asked) => asked.resource === resource && asked.id === undefined;
}

/** The page of builds that begins at this offset, as the first pass asks for it. */
export function pageAt(offset: number): IsMeant {
  return (asked) => listOf("build")(asked) && asked.limit === 10 && asked.offset === offset;
}

/** The pages of a list that hold one of these places, however large they are. */
export function holding(resource: Resource, ...places: number[]): IsMeant {
  return (asked) =>
    listOf(resource)(asked) &&
    places.some((place) => place >= asked.offset && place < asked.offset + asked.limit);
}

export function first(count: number, isMeant: IsMeant): IsMeant {
  let met = 0;
  return (asked) => isMeant(asked) && ++met <= count;
}

/** Every request, of any kind, once so many pages of builds were asked for. */
export function afterPages(count: number): IsMeant {
  let met = 0;
  return (asked) => {
    if (listOf("build")(asked)) met += 1;
    return met > count;
  };
}

export function page(change: (page: WirePage, asked: Asked) => unknown): Reply {
  return async (next, asked) => {
    const body = (await (await next()).json()) as WirePage;
    change(body, asked);
    return Response.json(body);
  };
}

export function meta(name: string, value: unknown): Reply {
  return page((body) => {
    body.meta[name] = value;
  });
}

/** `next` as it would be with other parameters, or with another path in front of them. */
export function nextTo(change: (query: URLSearchParams) => unknown, path?: string): Reply {
  return page(({ meta }) => {
    if (typeof meta.next !== "string") return;
    const [own = "", query] = meta.next.split("?");
    const parameters = new URLSearchParams(query);
    change(parameters);
    meta.next = `${path ?? own}?${parameters}`;
  });
}

export function record(resource: Resource, place: number, change: (record: WireRecord) => unknown): Play {
  return () =>
    when(
      holding(resource, place),
      page(({ objects }, { offset }) => {
        const meant = objects[place - offset];
        if (meant) change(meant);
      }),
    );
}

/** One record of a list, by its place, whose type is a number that JSON does not have. */
export function foreignNumber(resource: Resource, place: number, token: string): Play {
  return () =>
    when(holding(resource, place), async (next, { offset }) => {
      const body = (await (await next()).json()) as WirePage;
      Object.assign(body.objects[place - offset] ?? {}, { type: "a number" });
      const text = JSON.stringify(body).replace('"type":"a number"', `"type":${token}`);
      return new Response(text, { headers: { "content-type": "application/json" } });
    });
}

export function status(code: number, headers: Record<string, string> = {}, body = "Sorry"): Reply {
  return () => new Response(body, { status: code, headers });
}

export function json(value: unknown): Reply {
  return () => Response.json(value);
}

export const html = (code: number): Reply =>
  status(code, { "content-type": "text/html" }, "<html><body>Please wait</body></html>");

export function bytes(
  change: (body: Buffer) => Buffer | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): Reply {
  return async (next) => {
    const body = change(Buffer.from(await (await next()).arrayBuffer()));
    const init = { headers: { "content-type": "application/json", ...headers } };
    return new Response(body instanceof ReadableStream ? body : new Uint8Array(body), init);
  };
}

/** Half of a body, and then what `end` does; without it nothing more. */
export function half(body: Buffer, end?: (controller: ReadableStreamDefaultController) => void) {
  let pulls = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      pulls += 1;
      if (pulls === 1) controller.enqueue(new Uint8Array(body.subarray(0, body.length / 2)));
      else if (end) end(controller);
      else await new Promise(() => {});
    },
  });
}

/** A byte now and then, so that neither the header's nor a piece's time-out would be met. */
export function drip(body: Buffer): ReadableStream<Uint8Array> {
  let at = 0;
  let timer: NodeJS.Timeout;
  return new ReadableStream<Uint8Array>({
    pull: (controller) =>
      new Promise((resolve) => {
        timer = setTimeout(() => {
          controller.enqueue(new Uint8Array(body.subarray(at, ++at)));
          resolve();
        }, 50);
      }),
    cancel: () => clearTimeout(timer),
  });
}

export const silence: Reply = () => new Promise(() => {});

export const hangUp: Reply = () => "hang up";

/** A list of these records as the service would page it. */
function pagesOf(records: readonly WireRecord[]): Reply {
  return (_next, { path, limit, offset }) => {
    const following = offset + limit;
    const next = following < records.length ? `${path}?limit=${limit}&offset=${following}` : null;
    const meta = { limit, next, offset, previous: null, total_count: records.length };
    return Response.json({ meta, objects: records.slice(offset, following) });
  };
}

/** The records that a list shows, newest first. */
export function listed(world: World, resource: Resource): WireRecord[] {
  const shown = [...world.truth().records(resource)].filter((one) => one.listed);
  return shown.map(({ record }) => ({ ...record }) as WireRecord).reverse();
}

/** A service that does not show its newest records in their list; `detail` answers in their place when they are asked for one by one. */
export function keepBack(resource: Resource, count: number, detail: Reply): Play {
  return ({ world }) => {
    const records = listed(world, resource);
    const kept = new Set(records.slice(0, count).map(({ id }) => id));
    const rest = pagesOf(records.slice(count));
    return when(
      (asked) => asked.resource === resource && asked.id !== "schema",
      (next, asked) => {
        if (asked.id === undefined) return rest(next, asked);
        return kept.has(asked.id) ? detail(next, asked) : next();
      },
    );
  };
}

export function shuffled(resource: Resource): Play {
  return ({ world }) => {
    const records = listed(world, resource);
    const random = createRandom(1);
    return when(listOf(resource), (next, asked) => {
      for (let at = records.length - 1; at > 0; at--) {
        const other = random.int(at + 1);
        [records[at], records[other]] = [records[other] as WireRecord, records[at] as WireRecord];
      }
      return pagesOf(records)(next, asked);
    });
  };
}

/** Something happens in the world before each page of builds, at most so many times. */
export function meanwhile(times: number, happen: (world: World) => void): Play {
  return ({ world }) =>
    when(first(times, listOf("build")), (next) => {
      happen(world);
      return next();
    });
}

export function deleteNewest(world: World, count: number): void {
  const builds = [...world.truth().records("build")].slice(-count);
  for (const { record } of builds) world.deleteRecord("build", String(record.id));
}

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import type { Random } from "../../src/simulate/random.ts";
import type { SimulationOptions } from "../../test/support/simulation.ts";

type Intercept = NonNullable<SimulationOptions["intercept"]>;
type Fault = (...args: Parameters<Intercept>) => ReturnType<Intercept>;

interface Envelope {
  meta: Record<string, unknown>;
  objects: unknown[];
}

/** Longer than the mirror waits for a reply. */
const STALL_MS = 4000;
const HTML = { "content-type": "text/html" };
const html = (status: number) => new Response("<html><h1>Bad gateway</h1></html>", { status, headers: HTML });

/** Changes a list's page; any other reply passes as it is. */
function onPages(change: (page: Envelope) => Envelope): Fault {
  return async (_request, next) => {
    const reply = await next();
    const body = reply.ok ? ((await reply.clone().json()) as Partial<Envelope>) : {};
    if (!body.meta || !Array.isArray(body.objects)) return reply;
    return Response.json(change({ meta: body.meta, objects: body.objects }));
  };
}

/** Half of a reply, and then nothing for longer than anybody waits. */
const stall: Fault = async (_request, next) => {
  const bytes = new Uint8Array(await (await next()).arrayBuffer());
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length / 2));
      await delay(STALL_MS);
      controller.close();
    },
  });
  return new Response(body, {
    headers: { "content-type": "application/json", "content-length": String(bytes.length) },
  });
};

/** What a service of this interface does on its bad days, each to one request. */
const FAULTS = {
  "429": () => new Response("", { status: 429 }),
  "429, Retry-After 1": () => new Response("", { status: 429, headers: { "retry-after": "1" } }),
  "429, Retry-After 2": () => new Response("", { status: 429, headers: { "retry-after": "2" } }),
  "429, Retry-After as a moment": () => {
    const soon = String(Math.ceil(Date.now() / 1000) + 1);
    return new Response("", { status: 429, headers: { "retry-after": soon } });
  },
  "500": () => new Response("{}", { status: 500 }),
  "502 with HTML": () => html(502),
  "504 with HTML": () => html(504),
  "200 with HTML": () => html(200),
  "hang-up": () => "hang up",
  "stalled body": stall,
  "truncated JSON": async (_request, next) => {
    const text = await (await next()).text();
    return new Response(text.slice(0, text.length / 2), { headers: { "content-type": "application/json" } });
  },
  "empty list": onPages(({ meta }) => ({ meta: { ...meta, total_count: 0, next: null }, objects: [] })),
  "next null too early": onPages(({ meta, objects }) => ({ meta: { ...meta, next: null }, objects })),
  "next as a proxy's inside has it": onPages(({ meta, objects }) => ({
    meta: { ...meta, next: meta.next && `http://inner:8000/rtd${meta.next}` },
    objects,
  })),
  "half of a page": onPages(({ meta, objects }) => {
    const [offset, half] = [Number(meta.offset), Math.ceil(objects.length / 2)];
    const next = meta.next && String(meta.next).replace(/offset=\d+/, `offset=${offset + half}`);
    return { meta: { ...meta, limit: half, next }, objects: next ? objects.slice(0, half) : objects };
  }),
  "count too high": onPages(({ meta, objects }) => ({
    meta: { ...meta, total_count: Number(meta.total_count) + 7 },
    objects,
  })),
  "dates with a zone": onPages(({ meta, objects }) => ({
    meta,
    objects: objects.map((record) => {
      const { date } = record as { date?: string };
      return date === undefined ? record : { ...(record as object), date: `${date}Z` };
    }),
  })),
  "record without id": onPages(({ meta, objects }) => ({
    meta,
    objects: objects.map((record, place) => (place === 0 ? { ...(record as object), id: null } : record)),
  })),
  "no record at all": onPages(({ meta, objects }) => ({ meta, objects: ["oops", ...objects.slice(1)] })),
  "404 on a detail": (request, next) =>
    /\/api\/v1\/[a-z]+\/[^/]+\/$/.test(new URL(request.url).pathname)
      ? new Response("", { status: 404 })
      : next(),
} satisfies Record<string, Fault>;

/** On days with faults so many details of builds are told to be gone beside: open builds vanish, and come back. */
const GONE_SHARE = 0.05;
const BUILD_DETAIL = /\/build\/\d+\/$/;

/** A record of a list and a share of all details, which fail each time they are asked for. */
interface Poison {
  resource: Resource;
  place: number;
  /** Of details, 0 to 1. */
  share: number;
  salt: number;
}

export interface Faults {
  intercept: Intercept;
  /** Draws what fails each time from now on: all pages with one certain record, or certain details; or nothing. */
  drawPoison(): void;
  /** Nothing fails any more. */
  end(): void;
  /** How many of each kind there were. */
  counts: Record<string, number>;
  /** The share of requests that go wrong from now on, 0 to 1. @default 0 */
  share: number;
  /** Whether a path is that of a detail that never answers 404: a record that its list hid as well would be gone. @default none */
  spares(path: string): boolean;
}

function isPoisoned(
  { url }: Request,
  { resource, place, share, salt }: Poison,
): "poisoned page" | "poisoned detail" | null {
  const { pathname, searchParams } = new URL(url);
  const [named, id] = pathname.split("/").slice(3).filter(Boolean);
  if (named === undefined || id === "schema") return null;
  if (id === undefined) {
    const offset = Number(searchParams.get("offset") ?? 0);
    const isMet = place >= offset && place < offset + Number(searchParams.get("limit") ?? 20);
    return named === resource && isMet ? "poisoned page" : null;
  }
  const drawn = createHash("md5").update(`${salt} ${named} ${id}`).digest().readUInt32BE() / 2 ** 32;
  return drawn < share ? "poisoned detail" : null;
}

export function createFaults(random: Random): Faults {
  const kinds = Object.entries<Fault>(FAULTS);
  let poison: Poison | null = null;
  const count = (name: string) => {
    faults.counts[name] = (faults.counts[name] ?? 0) + 1;
  };
  const faults: Faults = {
    counts: Object.fromEntries(kinds.map(([name]) => [name, 0])),
    share: 0,
    spares: () => false,
    drawPoison() {
      const isPage = random.chance(0.5);
      poison = {
        resource: RESOURCES[random.int(RESOURCES.length)] ?? "build",
        place: isPage ? random.int(200) : -1,
        share: isPage ? 0 : 0.3,
        salt: random.int(1_000_000),
      };
    },
    end() {
      poison = null;
      faults.share = 0;
    },
    intercept(request, next) {
      const poisoned = poison && isPoisoned(request, poison);
      if (poisoned) {
        count(poisoned);
        return html(poisoned === "poisoned page" ? 504 : 502);
      }
      const mayDeny = !faults.spares(new URL(request.url).pathname);
      const isGone =
        mayDeny && faults.share > 0 && BUILD_DETAIL.test(request.url) && random.chance(GONE_SHARE);
      if (isGone) return FAULTS["404 on a detail"](request, next);
      const drawn = random.chance(faults.share) ? kinds[random.int(kinds.length)] : undefined;
      if (!drawn) return next();
      const [name, fault] = drawn;
      if (fault === FAULTS["404 on a detail"] && !mayDeny) return next();
      count(name);
      return fault(request, next);
    },
  };
  return faults;
}

import { createServer } from "node:http";
import { closeAtOnce, listenOnLoopback } from "./free-port.ts";
import { recordedExchanges } from "./recorded-exchanges.ts";

interface Envelope {
  meta: { limit: number; offset: number; next: string | null; total_count: number };
  objects: unknown[];
}

/** The recorded lists by path, each put together from its pages: a walk asks for pieces of them that were not recorded. */
function recordedLists(): Map<string, Envelope> {
  const lists = new Map<string, Envelope>();
  const pages = new Map(recordedExchanges().map((exchange) => [exchange.path, exchange]));
  for (const { path, body } of recordedExchanges()) {
    // A project's slug in the place of a version's id: the whole list in one page.
    if (/^\/api\/v1\/version\/(?!schema\/)[a-z][^/?]*\/$/.test(path))
      lists.set(path, JSON.parse(body) as Envelope);
    const first = /^(\/api\/v1\/[a-z]+\/)\?format=json&limit=100$/.exec(path);
    if (!first?.[1]) continue;
    const objects: unknown[] = [];
    let page: Envelope | undefined;
    for (let at: string | null = path; at; at = page.meta.next) {
      page = JSON.parse(pages.get(at)?.body ?? "null") as Envelope;
      objects.push(...page.objects);
    }
    if (page) lists.set(first[1], { ...page, objects });
  }
  return lists;
}

/** A page of a recorded list as the service would have cut it, or null when the path names none. */
function cutPage(lists: ReadonlyMap<string, Envelope>, path: string): string | null {
  const { pathname, searchParams } = new URL(path, "http://replay.invalid");
  const list = lists.get(pathname);
  if (!list || !searchParams.has("limit")) return null;
  const limit = Number(searchParams.get("limit"));
  const offset = Number(searchParams.get("offset") ?? 0);
  const end = offset + limit;
  const pageAt = (at: number) => `${pathname}?format=json&limit=${limit}&offset=${at}`;
  const next = end < list.objects.length ? pageAt(end) : null;
  const previous = offset >= limit ? pageAt(offset - limit) : null;
  return JSON.stringify({
    meta: { ...list.meta, limit, offset, next, previous },
    objects: list.objects.slice(offset, end),
  });
}

/** A loopback server that answers from the recording, whatever the order of the query's parameters; 404 else. */
export async function startReplay(): Promise<{ url: URL; requests: string[]; close(): Promise<void> }> {
  const byKey = new Map(
    recordedExchanges().map((exchange) => [key(exchange.method, exchange.path), exchange]),
  );
  const lists = recordedLists();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push(path);
    // The recorded replies bring their own; one of today would tell of a clock that was set.
    response.sendDate = false;
    const exact = byKey.get(key(request.method ?? "GET", path));
    const exchange = exact ?? byKey.get(key(request.method ?? "GET", path.replace(/[?&]format=json/, "")));
    const cut = exchange ? null : cutPage(lists, path);
    if (cut !== null) return void response.writeHead(200, { "content-type": "application/json" }).end(cut);
    if (!exchange) return void response.writeHead(404, { "content-type": "text/html; charset=utf-8" }).end();
    const { "content-length": _length, ...headers } = exchange.headers;
    response.writeHead(exchange.status, headers).end(exchange.body);
  });
  return { url: await listenOnLoopback(server), requests, close: () => closeAtOnce(server) };
}

function key(method: string, path: string): string {
  const url = new URL(path, "http://replay.invalid");
  url.searchParams.sort();
  return `${method} ${url.pathname}?${url.searchParams}`;
}

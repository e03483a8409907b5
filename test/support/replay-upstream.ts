import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Exchange {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What a real server answered; see test/fixtures/recorded/README.md. */
export function recordedExchanges(): Exchange[] {
  const file = new URL("../fixtures/recorded/exchanges.jsonl", import.meta.url);
  // At \n alone: the texts hold other line separators.
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Exchange);
}

/** A loopback server that answers from the recording, whatever the order of the query's parameters; 404 else. */
export async function startReplay(): Promise<{ url: URL; requests: string[]; close(): Promise<void> }> {
  const byKey = new Map(
    recordedExchanges().map((exchange) => [key(exchange.method, exchange.path), exchange]),
  );
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push(path);
    const exact = byKey.get(key(request.method ?? "GET", path));
    const exchange = exact ?? byKey.get(key(request.method ?? "GET", path.replace(/[?&]format=json/, "")));
    if (!exchange) {
      response.writeHead(404, { "content-type": "text/html; charset=utf-8" }).end();
      return;
    }
    const { "content-length": _length, ...headers } = exchange.headers;
    response.writeHead(exchange.status, headers).end(exchange.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function key(method: string, path: string): string {
  const url = new URL(path, "http://replay.invalid");
  url.searchParams.sort();
  return `${method} ${url.pathname}?${url.searchParams}`;
}

import { isIPv4, isIPv6 } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import type { MiddlewareHandler } from "hono";
import { LRUCache } from "lru-cache";
import { isLoopback } from "../../base/config/host-name.ts";
import { errorReply } from "./error-reply.ts";

/** What one client has left. It grows with time up to the requests of one second. */
interface Bucket {
  tokens: number;
  atMs: number;
}

export interface RateLimitOptions {
  /** Requests a second that one client may send, and as many at once. 0 means no limit. */
  ratePerSecond: number;
  /** How many clients are remembered; the one that was silent longest is forgotten. @default 10000 */
  clients?: number;
  /** Milliseconds of a clock that never goes back. @default performance.now */
  nowMs?: () => number;
}

/** More than a program needs that reads page after page, and less than a runaway loop sends. */
const USUAL_RATE = 100;

/** The rate where none is set. Only programs of this machine reach a loopback address, so it has no limit. */
export function usualRate(host: string): number {
  return isLoopback(host) ? 0 : USUAL_RATE;
}

/**
 * Answers 429 with `Retry-After` to a client that asks too often: a token bucket for each address. The
 * address is that of the connection. `X-Forwarded-For` is not read, because any client can write it.
 */
export function rateLimit({
  ratePerSecond,
  clients = 10_000,
  nowMs = () => performance.now(),
}: RateLimitOptions): MiddlewareHandler<{ Bindings: Partial<HttpBindings> }> {
  if (ratePerSecond === 0) return (_c, next) => next();
  const most = Math.max(1, ratePerSecond);
  const buckets = new LRUCache<string, Bucket>({ max: clients });

  return async (c, next) => {
    // Requests of the program itself have no connection.
    const address = c.env?.incoming?.socket.remoteAddress;
    if (address === undefined) return next();
    const client = clientOf(address);
    const now = nowMs();
    const { tokens, atMs } = buckets.get(client) ?? { tokens: most, atMs: now };
    const left = Math.min(most, tokens + ((now - atMs) / 1000) * ratePerSecond) - 1;
    if (left >= 0) {
      buckets.set(client, { tokens: left, atMs: now });
      return next();
    }
    buckets.set(client, { tokens: left + 1, atMs: now });
    const seconds = Math.max(1, Math.ceil(-left / ratePerSecond));
    const sentence = `Too many requests. This server answers ${ratePerSecond} a second to each client.`;
    return errorReply(429, sentence, { "retry-after": String(seconds) });
  };
}

/** The client behind an address: one subscriber has all IPv6 addresses with the same first 64 bits (RFC 6177). */
export function clientOf(address: string): string {
  const bare = address.replace(/%.*$/, "");
  const mapped = bare.replace(/^::ffff:/i, "");
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(bare)) return bare;
  const [start = "", end] = bare.split("::");
  const groups = start === "" ? [] : start.split(":");
  const last = end === undefined || end === "" ? [] : end.split(":");
  while (groups.length + last.length < 8) groups.push("0");
  const network = [...groups, ...last].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}

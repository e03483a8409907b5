import type { Context } from "hono";

/**
 * The scheme, host and port under which the reader asked. The server has checked the host. A proxy that ends
 * TLS names the scheme; its `X-Forwarded-Host` is not read, because any client can send one.
 */
export function originOf(c: Context): string {
  const { protocol, host } = new URL(c.req.url);
  return `${c.req.header("x-forwarded-proto") === "https" ? "https:" : protocol}//${host}`;
}

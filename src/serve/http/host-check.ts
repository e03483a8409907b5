import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import { readHostName } from "../../base/config/host-name.ts";
import { errorReply } from "./error-reply.ts";

/**
 * Refuses by 421 a request for a host that is not ours. A web page can give its own name our address (DNS
 * rebinding), and its browser would then let it read every reply. That takes a name, so an address is
 * allowed, and `localhost`, and the names in `allowed`. `X-Forwarded-Host` does not count.
 */
export function checkHost(allowed: readonly string[]): MiddlewareHandler {
  const names = new Set(["localhost", ...allowed.map(readHostName)]);
  const isOurs = (host: string) => {
    const name = readHostName(host);
    return name !== undefined && (isIP(name) !== 0 || names.has(name));
  };
  return async (c, next) => {
    // A request line may name another host than its header does.
    const { host } = new URL(c.req.url);
    if (isOurs(host) && isOurs(c.req.header("host") ?? host)) return next();
    return errorReply(
      421,
      "This server does not answer for the host name of this request. DOCMIRROR_HTTP_ALLOWED_HOSTS lists the names that it answers for.",
    );
  };
}

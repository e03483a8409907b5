/** What keeps a web page that someone has open from more than it may do here. */
import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { readHostName } from "../../base/config/host-name.ts";
import { errorReply } from "./error-reply.ts";

/**
 * Headers for browsers: a reply is never framed, never guessed to be of another type, and loads nothing. The
 * pages set a policy of their own, which allows their style sheet. There is no Strict-Transport-Security: the
 * proxy that ends TLS decides that for its host.
 */
export function securityHeaders(): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    xFrameOptions: "DENY",
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    strictTransportSecurity: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    overwrite: false,
  });
}

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

/** The origins whose pages may read the interface: some, any ("*"), or none (null). */
export type Origins = "*" | readonly string[] | null;

/** A browser may keep the answer to its preflight for a day. */
const PREFLIGHT_SECONDS = 86_400;

/**
 * Lets the pages of other origins read replies in a browser (CORS, Fetch standard, section 3.2). Credentials
 * are never allowed: the interface has none. An OPTIONS that is no preflight is answered as without this.
 */
export function crossOrigin(origins: Origins): MiddlewareHandler {
  if (origins === null) return (_c, next) => next();
  const answer = cors({
    origin: origins === "*" ? "*" : [...origins],
    allowMethods: ["GET", "HEAD", "OPTIONS"],
    exposeHeaders: ["ETag", "Last-Modified", "Retry-After", "X-Request-Id"],
    maxAge: PREFLIGHT_SECONDS,
  });
  return (c, next) => {
    const isPreflight = c.req.header("access-control-request-method") !== undefined;
    return c.req.method !== "OPTIONS" || isPreflight ? answer(c, next) : next();
  };
}

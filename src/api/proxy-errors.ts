import { errors } from "undici";
import { type ProxyRoute, showProxy } from "../config/proxy-route.ts";
import { NetworkError, TimeoutError } from "../errors.ts";
import { TunnelError } from "./proxy-pool.ts";
import { isUntrusted, showUrl } from "./upstream-errors.ts";

/** The proxy will not do it, now or later: it wants another login, or may not go there. */
export class ProxyRefusedError extends NetworkError {
  override name = "ProxyRefusedError";
}

/** A connection that did not come about. To the service itself we make none, so it was the one to the proxy. */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;
/** Statuses with which a proxy says that it could not make the tunnel for now. */
const PASSING = [408, 425, 429];

/**
 * What failed between us and the proxy, as an error that names it; null where it was the service, or there is no proxy. `timeoutMs` where
 * our own time limit ended it, by which nobody can tell the two apart.
 */
export function toProxyError(
  error: unknown,
  url: URL,
  { proxy, because }: ProxyRoute,
  timeoutMs: number | null,
): NetworkError | TimeoutError | null {
  if (proxy === null || !(error instanceof Error)) return null;
  const named = `the proxy ${showProxy(proxy)} (${because})`;
  const facts = { url: showUrl(url), cause: error };
  if (timeoutMs !== null) {
    const message = `GET ${showUrl(url)} was not answered within ${timeoutMs} ms, through ${named}`;
    return new TimeoutError(message, { ...facts, hint: "check that the proxy is up, and then the service" });
  }
  const way = `GET ${showUrl(url)}: ${named}`;
  const status = error instanceof TunnelError ? error.status : null;
  // The second is how undici tells it of a forwarded request.
  const isForwarded407 = error instanceof errors.InvalidArgumentError && error.message.includes("(407)");
  if (status === 407 || isForwarded407) {
    const hint = `give user and password in ${because}, as in http://user:password@host:port; special characters in percent form (@ is %40)`;
    return new ProxyRefusedError(`${way} wants another login (407)`, { ...facts, hint });
  }
  if (status !== null) {
    // Never an HttpStatusError: a proxy's 404 says nothing of a record.
    const isFinal = status < 500 && !PASSING.includes(status);
    const hint = `ask whoever runs the proxy whether it may connect to ${url.host}; NO_PROXY names the hosts that are asked directly`;
    const message = `${way} makes no connection to ${url.host}: it answered ${status}`;
    return new (isFinal ? ProxyRefusedError : NetworkError)(message, { ...facts, hint });
  }
  const reason = reasonOf(error);
  const code = String((reason as { code?: unknown }).code);
  if (!(error instanceof TunnelError || UNREACHABLE.test(code))) return null;
  const hint = isUntrusted(reason)
    ? "the proxy's certificate is not trusted; if an authority of your own signed it, name its file in NODE_EXTRA_CA_CERTS"
    : `check ${because}, and that the proxy is up; NO_PROXY names the hosts that are asked directly`;
  const message = `${way} cannot be reached: ${reason.message}`;
  return new (/TIMEOUT/.test(code) ? TimeoutError : NetworkError)(message, { ...facts, hint });
}

function reasonOf(error: Error): Error {
  const inner =
    error instanceof TunnelError
      ? error.cause
      : error instanceof AggregateError
        ? (error.errors as unknown[])[0]
        : undefined;
  return inner instanceof Error ? reasonOf(inner) : error;
}

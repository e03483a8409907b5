import { type ProxyRoute, showProxy } from "../../base/config/proxy-route.ts";
import { NetworkError, TimeoutError } from "../../base/errors.ts";
import { isUntrusted, showUrl } from "./upstream-errors.ts";

/** The proxy did not open a tunnel. `status` or `cause` says why. */
export class TunnelError extends Error {
  override name = "TunnelError";
  /** Null when it did not answer. */
  readonly status: number | null;

  constructor(status: number | null, cause?: unknown) {
    super("the proxy opened no tunnel", { cause });
    this.status = status;
  }
}

/** The proxy refuses for good: the login is not valid, or the target is not allowed. */
export class ProxyRefusedError extends NetworkError {
  override name = "ProxyRefusedError";
}

/** Codes of a failed connection. We only connect to the proxy, so it was the one that failed. */
const UNREACHABLE =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/;
/** Statuses of a proxy that could not open the tunnel for now. */
const PASSING = [408, 425, 429];

/**
 * An error that names the proxy, when the proxy failed. Null when the service failed, or without a proxy.
 * `timeoutMs` is set when our own time limit ended the request; then it is not known which one failed.
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
  // undici reports the status of a forwarded request in this way.
  const isForwarded407 = error.name === "InvalidArgumentError" && error.message.includes("(407)");
  if (status === 407 || isForwarded407) {
    const hint = `set user and password in ${because}, as in http://user:password@host:port; write special characters in percent form (@ is %40)`;
    return new ProxyRefusedError(`${way} requires a valid login (407)`, { ...facts, hint });
  }
  if (status !== null) {
    // Never an HttpStatusError: a proxy's 404 says nothing about a record.
    const isFinal = status < 500 && !PASSING.includes(status);
    const hint = `ask the operator of the proxy to allow ${url.host}, or name that host in NO_PROXY to connect without the proxy`;
    const message = `${way} did not connect to ${url.host}: it answered ${status}`;
    return new (isFinal ? ProxyRefusedError : NetworkError)(message, { ...facts, hint });
  }
  const reason = reasonOf(error);
  const code = String((reason as { code?: unknown }).code);
  if (!(error instanceof TunnelError || UNREACHABLE.test(code))) return null;
  const hint = isUntrusted(reason)
    ? "the proxy's certificate is not trusted; if your own certificate authority signed it, set its file in NODE_EXTRA_CA_CERTS"
    : `check ${because} and that the proxy is up, or name the host in NO_PROXY to connect without the proxy`;
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

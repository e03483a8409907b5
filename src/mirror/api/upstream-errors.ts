import {
  HttpStatusError,
  MirrorError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
  WrongAddressError,
} from "../../base/errors.ts";
import type { Answer } from "../../base/metrics/labels.ts";
import { BodyTooLargeError, UndecodableBodyError } from "./body.ts";
import type { NameOf } from "./wording.ts";
import { describeWrongScheme, schemeHint } from "./wrong-scheme.ts";

/** Known by their names, because undici is loaded with the first request alone (`connections.ts`). */
const TIMEOUTS = ["ConnectTimeoutError", "HeadersTimeoutError", "BodyTimeoutError"];
/** A link from upstream may be as long as a whole reply. */
const SHOWN_LENGTH = 500;

/** A URL for messages: without the login of the base URL, and cut when it is too long. */
export function showUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`.slice(0, SHOWN_LENGTH);
}

/** The first words of an unusable body, on one line and without control characters, to show what answered. */
export function excerpt(body: Buffer, hide: (text: string) => string): string {
  const text = hide(body.subarray(0, 4000).toString("utf8"))
    .slice(0, 400)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return text === "" ? " with an empty body" : `: ${text.slice(0, 120)}`;
}

/** Errors keep no more of a body, in bytes. */
const KEPT_BODY = 64 * 1024;

/** A body as errors keep it: the value that its JSON has, or the begin of its text. */
export function shownBody(body: Buffer, hide: (text: string) => string): unknown {
  const text = hide(body.subarray(0, KEPT_BODY).toString("utf8"));
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The error that callers act on. `timeoutMs` is set when our own time limit ended the request. */
export function toUpstreamError(
  error: unknown,
  url: URL,
  { timeoutMs, nameOf }: { timeoutMs: number | null; nameOf: NameOf },
): UpstreamError | MirrorError {
  if (error instanceof MirrorError) return error;
  const facts = { url: showUrl(url), cause: error };
  if (timeoutMs !== null)
    return new TimeoutError(`GET ${showUrl(url)} was not answered within ${timeoutMs} ms`, facts);
  if (error instanceof BodyTooLargeError) {
    const hint = `raise ${nameOf("maxBodyBytes")} or lower ${nameOf("pageSize")}`;
    return new UnexpectedShapeError(`GET ${showUrl(url)}: ${error.message}`, { ...facts, hint });
  }
  if (error instanceof UndecodableBodyError) {
    return new UnexpectedShapeError(
      `GET ${showUrl(url)} answered with an unusable body: ${error.message}`,
      facts,
    );
  }
  const reason = error instanceof AggregateError ? error.errors[0] : error;
  const scheme = describeWrongScheme(reason, url);
  if (scheme !== null) return new WrongAddressError(scheme, { ...facts, hint: schemeHint(nameOf) });
  const text = reason instanceof Error ? reason.message : String(reason);
  const check = `check ${nameOf("baseUrl")} and that the service is up`;
  if (error instanceof Error && TIMEOUTS.includes(error.name)) {
    return new TimeoutError(`GET ${showUrl(url)} timed out: ${text}`, facts);
  }
  return new NetworkError(`GET ${showUrl(url)} got no answer: ${text}`, {
    ...facts,
    hint: isUntrusted(reason)
      ? TRUST_HINT
      : isClosedWithoutAnswer(reason, url)
        ? `${TLS_HINT}${check}`
        : check,
  });
}

const TRUST_HINT =
  "the service's certificate is not trusted; if your own certificate authority signed it, set its file in NODE_EXTRA_CA_CERTS";
const TLS_HINT = "if the service speaks TLS at this port, use https://; otherwise ";

/** Whether a connection failed because its certificate is not trusted, by the codes of OpenSSL and Node. */
export function isUntrusted(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | null)?.code;
  return typeof code === "string" && /CERT|VERIFY/.test(code);
}

/** Whether the server closed the connection without a byte. Many servers that expect TLS do so for plain HTTP. */
function isClosedWithoutAnswer(reason: unknown, url: URL): boolean {
  const { name, socket } = (reason ?? {}) as { name?: unknown; socket?: { bytesRead?: number } };
  return url.protocol === "http:" && name === "SocketError" && socket?.bytesRead === 0;
}

/** How a request ended that failed with this error, as the meter names it. */
export function answerOf(error: unknown): Answer {
  if (error instanceof HttpStatusError) return error.status;
  if (error instanceof TimeoutError) return "timeout";
  return error instanceof UnexpectedShapeError ? "shape" : "network";
}

import type { NameOf } from "./wording.ts";

/** The codes of OpenSSL for a server that answers TLS in plain text. */
const NO_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;
/** How nginx, Apache and Go answer plain HTTP at a port of TLS, with status 400. */
const NO_PLAIN_HTTP =
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL|HTTP request to an HTTPS server/i;

export const schemeHint = (nameOf: NameOf) => `correct the scheme in ${nameOf("baseUrl")}`;

/** The message for a connection that failed because the base URL has the wrong scheme; otherwise null. */
export function describeWrongScheme(reason: unknown, url: URL): string | null {
  if (url.protocol === "https:") {
    const { code } = (reason ?? {}) as { code?: unknown };
    const isPlain = typeof code === "string" && NO_TLS.test(code);
    return isPlain ? `The service speaks plain HTTP at this port; use http:// (${url.origin})` : null;
  }
  if (!(reason instanceof Error && reason.name === "HTTPParserError")) return null;
  // A server that expects TLS may answer with a TLS alert: type 21, version 3. undici's types lack the field
  // with the data that it could not parse.
  const { data } = reason as { data?: string };
  return data?.startsWith("\u0015\u0003") ? tlsAt(url) : null;
}

/** The message for a reply that expects TLS; otherwise null. `words` is the beginning of the body. */
export function describeTlsExpected(url: URL, status: number, words: string): string | null {
  return url.protocol === "http:" && status === 400 && NO_PLAIN_HTTP.test(words) ? tlsAt(url) : null;
}

function tlsAt(url: URL): string {
  return `The service speaks TLS at this port; use https:// (${url.origin})`;
}

import { HttpStatusError, WrongAddressError } from "../errors.ts";
import { excerpt, showUrl } from "./upstream-errors.ts";
import { SCHEME_HINT, tellTlsExpected } from "./wrong-scheme.ts";

export interface StatusFacts {
  status: number;
  /** Readable or not: it only helps to tell what happened. */
  body: Buffer;
  retryAfterMs: number | undefined;
  /** Whether the request carried the user and password of the base URL. */
  hasLogin: boolean;
  /** When the request was sent; of a reply out of a cache, when the cache got it. */
  askedAt: Date;
  /** When the reply was here. */
  observedAt: Date;
}

/** That the service answered with a status other than 2xx. */
export function statusError(url: URL, facts: StatusFacts): HttpStatusError | WrongAddressError {
  const { status, body, retryAfterMs, askedAt, observedAt } = facts;
  const words = excerpt(body);
  const tlsExpected = tellTlsExpected(url, status, words);
  if (tlsExpected !== null)
    return new WrongAddressError(tlsExpected, { url: showUrl(url), hint: SCHEME_HINT });
  const answer = `GET ${showUrl(url)} answered ${status}`;
  const refusal = tellRefusal(facts);
  const [message, hint] =
    refusal === null
      ? [`${answer}${words}`, hintFor(status)]
      : [`${refusal[0]} (${answer}${words})`, refusal[1]];
  return new HttpStatusError(message, { url: showUrl(url), status, hint, retryAfterMs, askedAt, observedAt });
}

/** Says what a refusal for lack of rights means, and what to do; null for other statuses. */
function tellRefusal({ status, hasLogin }: StatusFacts): [sentence: string, hint: string] | null {
  if (status === 407) {
    return [
      "A proxy on the way to the service wants a login (407)",
      "write user and password into the proxy's address, as in HTTPS_PROXY=http://user:password@proxy:3128",
    ];
  }
  if (status !== 401 && status !== 403) return null;
  if (hasLogin) {
    return status === 401
      ? [
          "The user or the password in DOCMIRROR_BASE_URL is refused (401)",
          "correct them; @ is written %40, : is %3A, / is %2F",
        ]
      : [
          "The user in DOCMIRROR_BASE_URL may not read this (403)",
          "ask those who run the service for the right to read",
        ];
  }
  return [
    status === 401
      ? "The service wants a login (401); docmirror reads public interfaces only"
      : "The service refuses to answer (403); docmirror reads public interfaces only",
    "where a proxy in front of the service asks for the login, write user and password into DOCMIRROR_BASE_URL",
  ];
}

function hintFor(status: number): string {
  if (status === 429) return "the service limits requests: try again later, or lower DOCMIRROR_RATE";
  if (status >= 500) return "the service is in trouble, or this one page of it: try again later";
  return "the service refuses this request and will again; see what it says";
}

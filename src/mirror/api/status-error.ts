import { HttpStatusError, WrongAddressError } from "../../base/errors.ts";
import { showUrl } from "./upstream-errors.ts";
import type { NameOf } from "./wording.ts";
import { describeTlsExpected, schemeHint } from "./wrong-scheme.ts";

export interface StatusFacts {
  status: number;
  /** What the body says, as `excerpt` gives it. */
  words: string;
  retryAfterMs: number | undefined;
  /** Where the login of the request came from: the user and password of the base URL, or a header that was given. */
  login: "baseUrl" | "header" | null;
  nameOf: NameOf;
  /** When the request was sent. For a reply from a cache, when the cache got it. */
  askedAt: Date;
  /** When the reply arrived. */
  observedAt: Date;
}

/** The error for a status other than 2xx. */
export function statusError(url: URL, facts: StatusFacts): HttpStatusError | WrongAddressError {
  const { status, words, retryAfterMs, askedAt, observedAt, nameOf } = facts;
  const tlsExpected = describeTlsExpected(url, status, words);
  if (tlsExpected !== null)
    return new WrongAddressError(tlsExpected, { url: showUrl(url), hint: schemeHint(nameOf) });
  const answer = `GET ${showUrl(url)} answered ${status}`;
  const refusal = explainRefusal(facts);
  const [message, hint] =
    refusal === null
      ? [`${answer}${words}`, hintFor(status, nameOf)]
      : [`${refusal[0]} (${answer}${words})`, refusal[1]];
  return new HttpStatusError(message, { url: showUrl(url), status, hint, retryAfterMs, askedAt, observedAt });
}

/** Explains a refusal for lack of rights and what to do. Null for other statuses. */
function explainRefusal({ status, login, nameOf }: StatusFacts): [sentence: string, hint: string] | null {
  if (status === 407) {
    return [
      "A proxy in front of the service requires a login (407)",
      "set user and password in the address of the proxy, as in HTTPS_PROXY=http://user:password@proxy:3128",
    ];
  }
  if (status !== 401 && status !== 403) return null;
  if (login === "header") {
    const [what, hint] =
      status === 401
        ? ["is refused", "correct it"]
        : ["gives no right to read this", "ask the operator of the service for the right to read"];
    return [`The login in the header authorization ${what} (${status})`, hint];
  }
  if (login === "baseUrl") {
    return status === 401
      ? [
          `The user or the password in ${nameOf("baseUrl")} is refused (401)`,
          "correct them; @ is written %40, : is %3A, / is %2F",
        ]
      : [
          `The user in ${nameOf("baseUrl")} may not read this (403)`,
          "ask the operator of the service for the right to read",
        ];
  }
  return [
    status === 401
      ? "The service requires a login (401); docmirror reads public interfaces only"
      : "The service refuses to answer (403); docmirror reads public interfaces only",
    `if a proxy in front of the service asks for the login, set user and password in ${nameOf("baseUrl")}`,
  ];
}

function hintFor(status: number, nameOf: NameOf): string {
  if (status === 429)
    return `the service limits requests: try again later, or lower ${nameOf("ratePerSecond")}`;
  if (status >= 500) return "the service has a fault, perhaps only on this page: try again later";
  return "the service will refuse this request again; the message says why";
}

import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { attachReply, UnexpectedShapeError } from "../../base/errors.ts";
import { markDamaged } from "../../resources/damaged-records.ts";
import { parseJson } from "../../resources/parse-json.ts";
import { apiUrl, requestLabel } from "./api-url.ts";
import { charsetOf, decodeReply } from "./decode-reply.ts";
import {
  byteLengthOf,
  createHost,
  type Host,
  type HostReply,
  type HostRequest,
  type HostSettings,
} from "./host.ts";
import { refuseRedirect } from "./refuse-redirect.ts";
import { excerpt, shownBody, showUrl } from "./upstream-errors.ts";
import { COMMAND_WORDING, type NameOf } from "./wording.ts";

const ROOT_PATH = "/api/v1/";

export interface ClientOptions extends HostSettings {
  baseUrl: URL;
}

export interface FetchOptions<T>
  extends Pick<HostRequest<T>, "retries" | "priority" | "signal" | "log" | "headers" | "timeoutMs"> {
  /** Turns JSON into the value. Throws `UnexpectedShapeError` for a bad reply, which is then retried. */
  parse(value: unknown, url: string): T;
  /** A body with this hash is known and not parsed. It may be looked up during the request. */
  knownHash?: string | Promise<string | undefined>;
}

export interface JsonReply<T> extends Pick<HostReply, "sentAt" | "receivedAt" | "serverDate" | "reply"> {
  url: string;
  /** Null when the body has the known hash. */
  value: T | null;
  /** SHA-256 of the body, hex; of another charset than UTF-8, with its name in front. */
  hash: string;
  bytes: number;
}

/** Sends requests to the service at a steady pace, with retries. One request in, one parsed reply out. */
export interface Client extends Pick<Host, "isUp" | "lost" | "stats" | "clockAhead" | "close"> {
  readonly baseUrl: URL;
  /**
   * Fetches JSON from a path of the API. Throws `HttpStatusError`, `NetworkError`, `TimeoutError` or
   * `UnexpectedShapeError` after all retries, and the signal's reason when aborted. Once the host is lost
   * (see `host-gate.ts`), all requests fail at once with one of the first three errors. Safe to repeat: every
   * request is a GET.
   */
  fetchJson<T>(path: string, options: FetchOptions<T>): Promise<JsonReply<T>>;
}

export function createClient(options: ClientOptions): Client {
  const { baseUrl } = options;
  const { nameOf } = options.wording ?? COMMAND_WORDING;
  const parseTurn = createTurnstile();
  const warned = new Set<string>();
  const warnOfCharset = (label: string) => {
    // A service has one charset, or a few.
    if (warned.has(label) || warned.size >= 3) return;
    warned.add(label);
    options.onWarning?.(
      `the service declares the charset '${label.slice(0, 40)}', which nobody knows; its replies are read as UTF-8`,
    );
  };
  const { ask, ...host } = createHost(options, {
    baseUrl,
    rootUrl: apiUrl(ROOT_PATH, baseUrl) ?? baseUrl,
    accept: "application/json",
    labelOf: (url) => requestLabel(url, baseUrl),
    follow(url, status, location) {
      const isLink = location !== "" && URL.canParse(location, url.href);
      const target = isLink ? apiUrl(new URL(location, url).href, baseUrl) : null;
      return target ?? refuseRedirect(url, status, location, nameOf);
    },
  });

  return {
    ...host,
    baseUrl,
    async fetchJson<T>(path: string, { parse, knownHash, ...request }: FetchOptions<T>) {
      const url = apiUrl(path, baseUrl);
      if (!url) {
        const shown = path.slice(0, 200);
        const hint = "only links within the API are followed";
        const message = `'${shown}' is not a path of the API below ${showUrl(baseUrl)}`;
        throw new UnexpectedShapeError(message, { url: shown, hint });
      }
      return ask<JsonReply<T>>(url, {
        ...request,
        async read({ body: pieces, header, reply, hide, sentAt, receivedAt, serverDate }) {
          const charset = charsetOf(header("content-type"));
          if (charset.unknown !== null) warnOfCharset(charset.unknown);
          const hash = hashOf(pieces, charset.name);
          const known = hash === (await knownHash);
          if (!known) await parseTurn();
          const shown = showUrl(url);
          const bytes = byteLengthOf(pieces);
          const facts = { url: shown, hash, bytes, reply, sentAt, receivedAt, serverDate };
          if (known) return { ...facts, value: null };
          const body = Buffer.concat(pieces);
          try {
            return { ...facts, value: parse(readJson(body, charset.name, shown, { hide, nameOf }), shown) };
          } catch (error) {
            if (error instanceof UnexpectedShapeError) attachReply(error, reply, shownBody(body, hide));
            throw error;
          }
        },
      });
    },
  };
}

/**
 * Lets one caller pass in each turn of the event loop. Parsing a page takes milliseconds. When several pages
 * arrive at once, other work that waits for a socket, such as loading, would otherwise wait for all of them.
 */
function createTurnstile(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}

/** Bytes of another charset are other characters. */
function hashOf(pieces: readonly Buffer[], charset: string): string {
  const hash = createHash("sha256");
  if (charset !== "utf-8") hash.update(`${charset}:`);
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

function readJson(
  body: Buffer,
  charset: string,
  url: string,
  { hide, nameOf }: { hide: HostReply["hide"]; nameOf: NameOf },
): unknown {
  try {
    const { text, damaged } = decodeReply(body, charset);
    const value = parseJson(text);
    if (damaged !== null) markDamaged(value, parseJson(damaged));
    return value;
  } catch (cause) {
    throw new UnexpectedShapeError(`GET ${url} answered with no JSON${excerpt(body, hide)}`, {
      url,
      cause,
      hint: `check ${nameOf("baseUrl")}: it is the part before /api/v1/`,
    });
  }
}

import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { attachReply, UnexpectedShapeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { markDamaged, parseJson } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { apiUrl, ROOT_PATH, requestLabel } from "./api-url.ts";
import { charsetOf, decodeReply } from "./body.ts";
import {
  byteLengthOf,
  createHost,
  type Host,
  type HostReply,
  type HostRequest,
  type HostSettings,
} from "./host.ts";
import { type SplitReply, splitReply } from "./split-reply.ts";
import {
  COMMAND_WORDING,
  excerpt,
  type NameOf,
  shownBody,
  showUrl,
  wrongRedirect,
} from "./upstream-errors.ts";

const UTC = "Etc/UTC";

export interface ClientOptions extends HostSettings {
  baseUrl: URL;
  /** The zone of the service's dates. @default Etc/UTC */
  sourceTimezone?: string;
  /** Large numbers become `ExactNumber`. @default false */
  isExact?: boolean;
}

export interface FetchOptions<T>
  extends Pick<HostRequest<T>, "kind" | "retries" | "priority" | "signal" | "log" | "headers" | "timeoutMs"> {
  /** Turns JSON into the value. Throws `UnexpectedShapeError` for a bad reply, which is then retried. */
  parse(value: unknown, url: string): T;
  /**
   * Looks up a body by its hash. One that is known is not parsed: what is returned here makes the value of its `meta`,
   * in an envelope without objects. That is null for a body of another form than a page, which is known as a whole.
   */
  recall?(hash: string): Promise<((envelope: unknown, url: string) => T) | null>;
}

export interface JsonReply<T>
  extends Pick<HostReply, "sentAt" | "receivedAt" | "tookMs" | "serverDate" | "reply"> {
  url: string;
  value: T;
  /** SHA-256, hex, of the kind, the zone of dates and the body; where bodies are recalled, of the `objects` that `splitReply` splits off. */
  hash: string;
  bytes: number;
}

/** Sends requests to the service at a steady pace, with retries. One request in, one parsed reply out. */
export interface Client extends Omit<Host, "ask"> {
  readonly baseUrl: URL;
  readonly sourceTimezone: string;
  /**
   * Fetches JSON from a path of the API. Throws `HttpStatusError`, `NetworkError`, `TimeoutError` or
   * `UnexpectedShapeError` after all retries, and the signal's reason when aborted. Once the host is lost
   * (see `host-gate.ts`), all requests fail at once with one of the first three errors.
   */
  fetchJson<T>(path: string, options: FetchOptions<T>): Promise<JsonReply<T>>;
}

export function createClient(options: ClientOptions): Client {
  const { baseUrl, sourceTimezone = UTC, isExact = false } = options;
  const inZone = sourceTimezone === UTC ? "" : ` ${sourceTimezone}`;
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
    follow: (redirect) =>
      (redirect.target && apiUrl(redirect.target.href, baseUrl)) ?? wrongRedirect(redirect, nameOf),
  });

  return {
    ...host,
    baseUrl,
    sourceTimezone,
    async fetchJson(path, { parse, recall, ...request }) {
      const url = apiUrl(path, baseUrl);
      if (!url) {
        const shown = path.slice(0, 200);
        const message = `'${shown}' is not a path of the API below ${showUrl(baseUrl)}`;
        throw new UnexpectedShapeError(message, {
          url: shown,
          hint: "only links within the API are followed",
        });
      }
      return ask(url, {
        ...request,
        async read({ body: pieces, header, reply, hide, sentAt, receivedAt, tookMs, serverDate }) {
          const charset = charsetOf(header("content-type"));
          if (charset.unknown !== null) warnOfCharset(charset.unknown);
          const shown = showUrl(url);
          const bytes = byteLengthOf(pieces);
          const facts = { url: shown, bytes, reply, sentAt, receivedAt, tookMs, serverDate };
          const parts = recall && charset.name === "utf-8" ? splitReply(pieces) : null;
          const wholeHash = () => hashOf(pieces, charset.name + inZone);
          const hash = parts ? hashOf(parts.objects, `objects${inZone}`) : wholeHash();
          try {
            const known = await recall?.(hash);
            if (known)
              return { ...facts, hash, value: known(parts && { meta: parts.meta, objects: [] }, shown) };
            await parseTurn();
            const page = parts && readParts(parts, isExact);
            if (page) return { ...facts, hash, value: parse(page, shown) };
            const body = readJson(Buffer.concat(pieces), charset.name, shown, hide, nameOf, isExact);
            return { ...facts, hash: parts ? wholeHash() : hash, value: parse(body, shown) };
          } catch (error) {
            if (!(error instanceof UnexpectedShapeError)) throw error;
            const body = Buffer.concat(pieces);
            const value = shownBody(body, hide);
            if (mayTellError(value)) error.message += excerpt(body, hide);
            if (reply.status !== 200) error.message += ` (status ${reply.status})`;
            throw attachReply(error, reply, value);
          }
        },
      });
    },
  };
}

/** One caller a turn of the event loop: else loading would wait for all pages that arrive at once to be parsed. */
function createTurnstile(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}

/** The kind is hashed too, because equal bytes in another charset or zone, or of a part, mean something else. */
function hashOf(pieces: readonly Buffer[], kind: string): string {
  const hash = createHash("sha256").update(`${kind}:`);
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

function readParts({ meta, objects }: SplitReply, isExact: boolean): unknown {
  try {
    return decodeJson(Buffer.concat(objects), "utf-8", isExact, (records) => ({ meta, objects: records }));
  } catch {
    return null;
  }
}

function readJson(
  body: Buffer,
  charset: string,
  url: string,
  hide: HostReply["hide"],
  nameOf: NameOf,
  isExact: boolean,
) {
  try {
    return decodeJson(body, charset, isExact, (value) => value);
  } catch (cause) {
    const hint = `check ${nameOf("baseUrl")}: it is the part before /api/v1/`;
    const message = `GET ${url} answered with no JSON${excerpt(body, hide)}`;
    throw new UnexpectedShapeError(message, { url, cause, hint });
  }
}

/** An object that is no page, where another value was expected: some services report errors so, with 200. */
const mayTellError = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !("objects" in value);

/** @param asReply makes the reply of the value that the bytes are */
function decodeJson(bytes: Buffer, charset: string, isExact: boolean, asReply: (value: unknown) => unknown) {
  const { text, damaged } = decodeReply(bytes, charset);
  const reply = asReply(parseJson(text, { isExact }));
  if (damaged !== null) markDamaged(reply, asReply(parseJson(damaged)));
  return reply;
}

/** The same for work on one list: each line of its client and its log, those of retries too, has its `resource`. */
export function aboutList<Parts extends { client: Client; log: Logger }>(parts: Parts, resource: Resource) {
  const log = parts.log.child({ resource });
  const fetchJson: Client["fetchJson"] = (path, options) => parts.client.fetchJson(path, { log, ...options });
  return { ...parts, client: { ...parts.client, fetchJson }, log };
}

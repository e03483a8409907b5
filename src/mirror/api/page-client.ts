import { HttpStatusError, UnexpectedShapeError, WrongAddressError } from "../../base/errors.ts";
import { BodyTooLargeError, decodePage } from "./body.ts";
import { fateOf, isGone } from "./fates.ts";
import { createHost, type Host, type HostSettings } from "./host.ts";
import type { HostPace } from "./host-pace.ts";
import { parseRobots } from "./robots.ts";
import { RedirectError, showUrl } from "./upstream-errors.ts";

interface PageClientOptions extends HostSettings {
  docsUrl: URL;
  /** A redirect may be followed to this address, which is on the origin. */
  isPage(url: URL): boolean;
  /** The pace of the host, shared with the API's client where both ask the same one. */
  pace: HostPace;
}

/** They came with a page: by them the server can say later that the page is unchanged. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export type PageReply =
  | { kind: "page"; html: string; validators: Validators; status: number }
  | { kind: "unchanged"; status: number }
  /** There is no such page, or none of text. `reason` is for people, such as "is application/pdf, not HTML". */
  | { kind: "none"; reason: string; status: number };

const MAX_PAGE_BYTES = 5 * 1024 * 1024;

/** Fetches pages of documentation from one host, by the rules that also hold for the API, and by its `robots.txt`. */
export interface PageClient extends Pick<Host, "isUp" | "lost" | "stats" | "close"> {
  /**
   * Reads the rules of the host for robots, which hold from then on, with a delay up to `mostDelayMs`. Returns that delay. A
   * refusal of the file itself, or a redirect to elsewhere, says that there are no rules. Throws where nobody knows.
   */
  readRobots(mostDelayMs: number): Promise<number>;
  /** The time until the delay lets the next request go. */
  waitMs(): number;
  /** The rule of `robots.txt` that keeps this page from robots, or null. */
  findRefusal(url: URL): string | null;
  /** Fetches a page, or learns that it is unchanged. Throws for the replies that `PageReply` does not name. */
  fetchPage(url: URL, known: Validators): Promise<PageReply>;
}

export function createPageClient(options: PageClientOptions): PageClient {
  const { docsUrl, isPage, clock } = options;
  let robots = parseRobots("");
  let delayMs = 0;
  let nextMs = 0;
  // Never longer than the delay, or a clock that was put back would stop the night.
  const waitMs = (): number => Math.min(delayMs, Math.max(0, nextMs - clock.now().getTime()));
  const pace: HostPace = {
    ...options.pace,
    async turn(signal) {
      const restMs = waitMs();
      nextMs = clock.now().getTime() + restMs + delayMs;
      if (restMs > 0) await clock.sleep(restMs, signal);
      await options.pace.turn(signal);
    },
  };
  const robotsUrl = new URL("/robots.txt", docsUrl.origin);
  const { ask, isUp, lost, stats, close } = createHost(
    { ...options, pace },
    {
      baseUrl: docsUrl,
      rootUrl: new URL(docsUrl.origin),
      // Hosts of documents stand behind caches as a rule, and their pages come from there too.
      mayBeCached: true,
      labelOf: () => "content",
      accept: "text/html, application/xhtml+xml;q=0.9",
      maxBodyBytes: MAX_PAGE_BYTES,
      follow({ from, target }) {
        const isHere = target?.origin === docsUrl.origin && target.username === "" && target.password === "";
        const isAllowed = (url: URL) => isPage(url) && robots.findRefusal(url) === null;
        if (target !== null && isHere && (target.pathname === robotsUrl.pathname || isAllowed(target)))
          return target;
        const place = target === null ? "no address" : showUrl(target).slice(0, 200);
        return new RedirectError(from, `redirects to ${place}`);
      },
    },
  );

  return {
    isUp,
    lost,
    stats,
    close,
    waitMs,
    findRefusal: (url) => robots.findRefusal(url),
    async readRobots(mostDelayMs) {
      const headers = { accept: "text/plain, */*;q=0.1" };
      const read = ({ body }: { body: Buffer[] }) => Buffer.concat(body).toString("utf8");
      const text = await ask<string>(robotsUrl, { headers, read }).catch((error: unknown) => {
        const isRefused = error instanceof HttpStatusError && fateOf(error)?.again === 0;
        if (isRefused || error instanceof WrongAddressError) return "";
        throw error;
      });
      robots = parseRobots(text);
      delayMs = Math.min(robots.delayMs, mostDelayMs);
      return delayMs;
    },
    async fetchPage(url, known) {
      const headers = {
        ...(known.etag !== null && { "if-none-match": known.etag }),
        ...(known.lastModified !== null && { "if-modified-since": known.lastModified }),
      };
      const isConditional = Object.keys(headers).length > 0;
      try {
        return await ask<PageReply>(url, {
          headers,
          // One page matters little.
          retries: 1,
          answerEarly(status, header) {
            // Without a condition there is nothing that could be unchanged.
            if (status === 304 && isConditional) return { kind: "unchanged", status };
            const type = header("content-type") ?? "";
            if (status < 200 || status >= 300 || isHtml(type)) return undefined;
            const shown = /^[\x20-\x7e]{1,60}?(?=;|$)/.exec(type)?.[0] ?? "of another type";
            return { kind: "none", reason: `is ${shown}, not HTML`, status };
          },
          read({ body, header }) {
            const etag = asValidator(header("etag"));
            const lastModified = asValidator(header("last-modified"));
            const html = decodePage(Buffer.concat(body), header("content-type") ?? "");
            return { kind: "page", html, validators: { etag, lastModified }, status: 200 };
          },
        });
      } catch (error) {
        if (isGone(error)) return { kind: "none", reason: `answered ${error.status}`, status: error.status };
        if (error instanceof RedirectError)
          return { kind: "none", reason: error.reason, status: error.reply?.status ?? 302 };
        if (error instanceof UnexpectedShapeError && error.cause instanceof BodyTooLargeError)
          return { kind: "none", reason: error.cause.message, status: 200 };
        throw error;
      }
    },
  };
}

/** A reply without a type counts as HTML, as browsers take it. */
function isHtml(contentType: string): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)?\s*(?:;|$)/i.test(contentType);
}

function asValidator(value: string | undefined): string | null {
  return value !== undefined && /^[\x21-\x7e][\x20-\x7e]{0,999}$/.test(value) ? value : null;
}

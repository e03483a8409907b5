import type { Setting } from "./setting.ts";
import * as values from "./setting.ts";

/** The service, and how it is asked. They stand apart from the other settings because `docmirror/client` needs no more. */
export const SERVICE_SETTINGS = {
  /**
   * Without query and fragment. The path prefix is kept without a closing slash ("/" when there is none), so join with
   * `baseUrl.pathname.replace(/\/$/, "") + "/api/v1/"`. May contain credentials: print it only through `maskUrl`.
   */
  baseUrl: {
    name: "DOCMIRROR_BASE_URL",
    uses: ["requests"],
    value: "url",
    default: null,
    without: "none, required by commands that ask upstream",
    parse: values.baseUrl,
    isHidden: (text) => text.includes("@"),
    meaning: "the service to mirror: the URL before /api/v1/, with its path prefix if it has one",
  },
  /** Without brackets and blanks, so it fits into the comment of `User-Agent`. */
  contact: {
    name: "DOCMIRROR_CONTACT",
    uses: ["requests"],
    value: "address",
    default: null,
    without: "none",
    parse: values.contact,
    meaning:
      "where the service's owner can reach you, an e-mail address or a URL; sent in the User-Agent of each request",
  },
  /** `auto` begins at 100 and finds the size of each list (`src/mirror/walk/page-size.ts`). */
  pageSize: {
    name: "DOCMIRROR_PAGE_SIZE",
    uses: ["sync", "watch"],
    value: "records",
    default: "auto",
    parse: values.wordOr("auto", values.whole(1, 1000)),
    meaning:
      "records per page, 1 to 1000; auto begins at 100 and takes more while replies stay under five seconds and six megabytes; the server may send fewer",
  },
  ratePerSecond: {
    name: "DOCMIRROR_RATE",
    uses: ["requests"],
    value: "number",
    // Hosting services ask crawlers to stay below four.
    default: "3",
    parse: values.decimal(0, 100_000),
    meaning: "requests a second, all resources together, evenly spaced; 0.5 is one every 2 s, 0 is no limit",
  },
  concurrency: {
    name: "DOCMIRROR_CONCURRENCY",
    uses: ["sync", "watch"],
    value: "requests",
    default: "4",
    parse: values.whole(1, 64),
    meaning: "requests in flight at once, 1 to 64",
  },
  timeoutMs: {
    name: "DOCMIRROR_TIMEOUT_MS",
    uses: ["requests"],
    value: "ms",
    default: "30000",
    // Node's timers overflow beyond this and then fire at once.
    parse: values.whole(1, 2 ** 31 - 1),
    meaning: "time for one request, headers and body, in milliseconds",
  },
  retries: {
    name: "DOCMIRROR_RETRIES",
    uses: ["requests"],
    value: "tries",
    default: "5",
    parse: values.whole(0, 100),
    meaning: "tries after the first, 0 to 100; Retry-After is obeyed",
  },
  maxBodyBytes: {
    name: "DOCMIRROR_MAX_BODY_MB",
    uses: ["requests"],
    value: "MB",
    default: "64",
    // V8's longest string is 512 MiB.
    parse: values.megabytes(1, 511),
    meaning: "the longest reply that is accepted, 1 to 511 megabytes",
  },
} as const satisfies Record<string, Setting>;

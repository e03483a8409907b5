import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  HttpStatusError,
  LastingNetworkError,
  NetworkError,
  StoppedError,
  StoreError,
  TimeoutError,
  UnexpectedShapeError,
  WrongAddressError,
} from "../../../src/base/errors.ts";
import { BodyTooLargeError, UndecodableBodyError } from "../../../src/mirror/api/body.ts";
import {
  FATES,
  type Fate,
  fateOf,
  fateOfStatus,
  isGone,
  isRefusal,
  isUpstreamLost,
} from "../../../src/mirror/api/fates.ts";

const FACTS = { url: "http://h/" };
const AS_SET = Number.POSITIVE_INFINITY;
const STATUSES = Array.from({ length: 500 }, (_, place) => 100 + place);
const status = (code: number, retryAfterMs?: number) =>
  new HttpStatusError("refused", { ...FACTS, status: code, retryAfterMs });
const brokenHead = Object.assign(new Error("bad"), { name: "HTTPParserError" });

type Answer = Pick<Fate, "again" | "holdsAll" | "about">;

/** The table once more, as questions that branch instead of rows in an order. */
function expectedFate(code: number, retryAfterMs: number | undefined): Answer {
  if (code === 429 || (code === 403 && retryAfterMs !== undefined))
    return { again: AS_SET, holdsAll: true, about: "pace" };
  if (code >= 500) {
    const about = code >= 502 ? "service" : code === 500 ? "page" : "reply";
    return { again: AS_SET, ...(code === 503 && { holdsAll: true }), about };
  }
  if (code === 408 || code === 425) return { again: AS_SET, about: "reply" };
  const about =
    code === 400
      ? "page"
      : { 404: "record", 410: "record", 401: "reader", 403: "reader", 407: "reader" }[code];
  return { again: 0, about: (about ?? "reply") as Answer["about"] };
}

describe("the fate of a status", () => {
  it("is as expected for each of them, with Retry-After and without", () => {
    for (const code of STATUSES)
      for (const retryAfterMs of [undefined, 0, 3000]) {
        const { of: _, applies: __, ...fate } = fateOfStatus({ status: code, retryAfterMs }) as Fate;
        expect({ code, ...fate }).toEqual({ code, ...expectedFate(code, retryAfterMs) });
        expect(fateOf(status(code, retryAfterMs))).toBe(fateOfStatus({ status: code, retryAfterMs }));
      }
  });

  it("is what the words for programs say", () => {
    const options = readFileSync(new URL("../../../src/client/client-options.ts", import.meta.url), "utf8");
    expect(options).toContain("network errors, 408, 425, 429 and 5xx.");
    const again = STATUSES.filter((code) => fateOfStatus({ status: code })?.again !== 0);
    expect(again).toEqual([408, 425, 429, ...STATUSES.filter((code) => code >= 500)]);
  });
});

describe("the fate of a failure without a status", () => {
  it.each<[string, Error, number, Fate["about"]]>([
    ["no answer", new NetworkError("x", FACTS), AS_SET, "service"],
    ["no head of HTTP", new NetworkError("x", { ...FACTS, cause: brokenHead }), 2, "service"],
    ["a fault of TLS", new LastingNetworkError("x", FACTS), 0, "service"],
    ["a time-out", new TimeoutError("x", FACTS), AS_SET, "service"],
    ["no page", new UnexpectedShapeError("x", FACTS), 2, "reply"],
    [
      "another packing",
      new UnexpectedShapeError("x", { ...FACTS, cause: new UndecodableBodyError() }),
      2,
      "reply",
    ],
    ["a long body", new UnexpectedShapeError("x", { ...FACTS, cause: new BodyTooLargeError() }), 0, "page"],
    ["another address", new WrongAddressError("x", FACTS), 0, "address"],
  ])("is as expected for %s", (_, error, again, about) => {
    expect(fateOf(error)).toMatchObject({ again, about });
  });

  it.each([
    new StoppedError("SIGINT"),
    new StoreError("x"),
    new TypeError("fetch failed"),
    null,
  ])("is none for %s, which is not upstream's", (error) => {
    expect(fateOf(error)).toBeUndefined();
    expect([isGone(error), isRefusal(error), isUpstreamLost(error)]).toEqual([false, false, false]);
  });

  it("is that of its class for an error with a status that is no HttpStatusError", () => {
    const moved = Object.assign(new WrongAddressError("x", FACTS), { status: 503 });
    expect([fateOf(moved)?.about, isRefusal(moved)]).toEqual(["address", false]);
  });
});

describe("docs/internals/service.md", () => {
  const doc = new URL("../../../docs/internals/service.md", import.meta.url);
  const place = /(?<=\n## What becomes of a request that failed\n\n[^#|]*)\|[^#]*?\n(?=\n)/;
  const AGAIN = new Map([
    [0, "never"],
    [2, "twice"],
    [AS_SET, "as set"],
  ]);

  /** UPDATE_DOCS=1 npx vitest run test/mirror/api/fates.test.ts writes it. */
  it("shows the table", () => {
    const text = readFileSync(doc, "utf8");
    expect(text).toMatch(place);
    const rows = FATES.map(({ of, again, holdsAll, about }) => {
      const until = again === 0 ? "" : holdsAll ? "all requests" : "this request";
      return `| ${of} | ${AGAIN.get(again)} | ${until} | the ${about} |\n`;
    });
    const head = "| failure | sent again | until then wait | it is about |\n| --- | --- | --- | --- |\n";
    const wanted = text.replace(place, () => head + rows.join(""));
    if (process.env.UPDATE_DOCS) writeFileSync(doc, wanted);
    expect(readFileSync(doc, "utf8")).toBe(wanted);
  });
});

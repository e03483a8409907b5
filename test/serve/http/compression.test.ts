import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { describe, expect, it } from "vitest";
import { chooseCoding } from "../../../src/serve/http/compression.ts";
import { serveWorld } from "./simulated-app.ts";

const LONG = "/api/v1/build/?limit=100";
const SHORT = "/api/v1/user/?limit=1";

/** Asks without decompressing, which fetch always does. */
async function askRaw(url: string, encoding: string | null) {
  const headers = encoding === null ? {} : { "accept-encoding": encoding };
  const [reply] = (await once(request(url, { headers }).end(), "response")) as [IncomingMessage];
  return { status: reply.statusCode, headers: reply.headers, body: await buffer(reply) };
}

describe("compression", () => {
  it("sends the same content by each coding, with the length that is sent and a weak tag", async () => {
    await using app = await serveWorld();
    const plain = await askRaw(app.url + LONG, null);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    for (const [coding, decode] of [
      ["gzip", promisify(gunzip)],
      ["br", promisify(brotliDecompress)],
    ] as const) {
      const { headers, body } = await askRaw(app.url + LONG, coding);
      expect(headers["content-encoding"]).toBe(coding);
      expect(headers["content-length"]).toBe(String(body.length));
      expect(headers.vary).toMatch(/Accept-Encoding/);
      expect(headers.etag).toBe(`W/${plain.headers.etag}`);
      expect(body.length).toBeLessThan(plain.body.length / 3);
      expect((await decode(body)).equals(plain.body)).toBe(true);
    }
  });

  it("leaves short replies as they are, unless the client refuses that", async () => {
    await using app = await serveWorld();
    const short = await askRaw(app.url + SHORT, "gzip");
    expect(short.headers["content-encoding"]).toBeUndefined();
    expect(short.headers.vary).toMatch(/Accept-Encoding/);
    expect(JSON.parse(short.body.toString())).toHaveProperty("objects");
    const strict = await askRaw(app.url + SHORT, "gzip, identity;q=0");
    expect(strict.headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse((await promisify(gunzip)(strict.body)).toString())).toHaveProperty("objects");
  });

  it("says 406 to a client that accepts nothing", async () => {
    await using app = await serveWorld();
    const { status, headers, body } = await askRaw(app.url + LONG, "identity;q=0, zstd");
    expect([status, headers.etag]).toEqual([406, undefined]);
    expect(JSON.parse(body.toString())).toEqual({ error: expect.stringContaining("br, gzip") });
  });

  it("answers 304 by the tag of a compressed reply", async () => {
    await using app = await serveWorld();
    const { headers } = await askRaw(app.url + LONG, "br");
    const again = await app.get(LONG, { "accept-encoding": "br", "if-none-match": String(headers.etag) });
    expect([again.status, again.headers.get("content-encoding")]).toEqual([304, null]);
  });

  it.each([
    [undefined, "identity"],
    ["", "identity"],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
    ["br", "br"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["gzip;q=0", "identity"],
    ["deflate", "identity"],
    ["*", "br"],
    ["*;q=0.1, br;q=0", "gzip"],
    ["identity", "identity"],
    ["identity;q=1, gzip;q=0.5", "identity"],
    ["identity;q=0.5, gzip;q=0.5", "gzip"],
    ["identity;q=0", null],
    ["identity;q=0, gzip", "gzip"],
    ["*;q=0", null],
    ["*;q=0, identity", "identity"],
    ["gzip;q=high", "identity"],
    ["gzip ; q=0.5", "gzip"],
    [";;,,=", "identity"],
  ])("Accept-Encoding: %s chooses %s", (header, coding) => {
    expect(chooseCoding(header)).toBe(coding);
  });
});

import { once } from "node:events";
import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { withSql } from "../../src/store/connection/connect.ts";
import { startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { CACHES } from "../support/http-cache.ts";
import { seedPages } from "../support/served-pages.ts";

const LIST = "/api/v1/project/?limit=50";

/** A GET as it is, since fetch would unpack a body. */
async function get(url: string, headers: Record<string, string> = {}) {
  const sent = request(url, { headers }).end();
  const [reply] = await once(sent, "response");
  return { status: reply.statusCode, headers: reply.headers, body: await buffer(reply) };
}

describe.each(Object.entries(CACHES))("the sample for %s", (_name, { isHere, start }) => {
  it.skipIf(!isHere)("keeps what may be kept, and nothing else", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await using cli = startCli(["serve", "--http-port", "0"], { env: { DATABASE_URL: database.url } });
    const [upstream] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    await expect.poll(async () => (await get(`${upstream}/readyz`)).status).toBe(200);
    await using cache = await start(upstream);
    const state = async (path: string, headers = {}) => {
      const { status, headers: came } = await get(cache.url + path, headers);
      return `${status} ${came["x-cache"]}`;
    };

    // The second reader of each coding gets the reply of the first.
    const plain = await get(cache.url + LIST);
    const packed = await get(cache.url + LIST, { "accept-encoding": "gzip, deflate, br" });
    expect([plain.status, packed.status]).toEqual([200, 200]);
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(packed.body)).toEqual(plain.body);
    for (const encoding of ["gzip", "br, gzip;q=0.5", "identity", ""]) {
      const { headers, body, status } = await get(cache.url + LIST, { "accept-encoding": encoding });
      expect([encoding, status, headers["x-cache"]]).toEqual([encoding, 200, "HIT"]);
      expect(headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toEqual(plain.body);
    }
    expect((await get(cache.url + LIST, { "if-none-match": String(plain.headers.etag) })).status).toBe(304);

    for (const path of [
      ...["/livez", "/readyz", "/status.json", "/metrics", "/", "/project/pip", "/api/v1/build/999999/"],
      ...["/api/v1/build/?limit=x", "/api/v1/nosuch/", `/api/v1/build/?q=${"x".repeat(17_000)}`],
    ]) {
      const states = [await state(path), await state(path), await state(path)];
      expect([path, states.filter((one) => /HIT|STALE|UPDATING|REVALIDATED/.test(one))]).toEqual([path, []]);
    }
    expect(await state(LIST, { host: "evil.example" })).toMatch(/^421 /);
    expect(await state(LIST, { host: "evil.example" })).not.toMatch(/HIT/);

    // A change is seen when the seconds are over, and an old reply never after the new one.
    await withSql(database.url, { applicationName: "docmirror test", max: 1 }, (sql) =>
      sql.unsafe("update mirror.projects set name = 'renamed' where id = '1'"),
    );
    const isNew = async () => (await get(cache.url + LIST)).body.includes("renamed");
    await expect.poll(isNew).toBe(true);
    expect(await isNew()).toBe(true);

    cli.signal("SIGTERM");
    expect((await cli.ended).code).toBe(143);
  });
});

import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { clientOf, rateLimit, usualRate } from "../../../src/serve/http/app.ts";
import { serveWorld } from "./simulated-app.ts";

function limited(ratePerSecond: number, clients?: number) {
  let now = 0;
  const app = new Hono();
  app.use(rateLimit(ratePerSecond, clients, () => now));
  app.get("/", (c) => c.text("an answer"));
  const ask = (address: string) =>
    app.request("/", {}, { incoming: { socket: { remoteAddress: address } } }) as Promise<Response>;
  return {
    ask,
    statuses: async (address: string, count: number) =>
      (await Promise.all(Array.from({ length: count }, () => ask(address)))).map(({ status }) => status),
    pass(ms: number) {
      now += ms;
    },
  };
}

describe("the rate of a client", () => {
  it("allows the requests of a second at once, then one at a time", async () => {
    const app = limited(3);
    expect(await app.statuses("192.0.2.1", 5)).toEqual([200, 200, 200, 429, 429]);
    app.pass(334);
    expect(await app.statuses("192.0.2.1", 2)).toEqual([200, 429]);
    app.pass(60_000);
    expect(await app.statuses("192.0.2.1", 4)).toEqual([200, 200, 200, 429]);
  });

  it("says how long to wait, and after that wait the next request is answered", async () => {
    const app = limited(0.1);
    expect(await app.statuses("192.0.2.1", 1)).toEqual([200]);
    const refused = await app.ask("192.0.2.1");
    expect(await refused.json()).toEqual({ error: expect.stringContaining("0.1 a second") });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBe(10);
    app.pass(seconds * 1000);
    expect(await app.statuses("192.0.2.1", 1)).toEqual([200]);
  });

  it("is counted for each client alone, and for all addresses of one IPv6 network together", async () => {
    const app = limited(1);
    expect(await app.statuses("192.0.2.1", 2)).toEqual([200, 429]);
    expect(await app.statuses("192.0.2.2", 1)).toEqual([200]);
    expect(await app.statuses("2001:db8:1:2::1", 1)).toEqual([200]);
    expect(await app.statuses("2001:db8:1:2:ffff::9", 1)).toEqual([429]);
    expect(await app.statuses("2001:db8:1:3::1", 1)).toEqual([200]);
  });

  it("is remembered for so many clients and no more", async () => {
    const app = limited(1, 2);
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) await app.ask(address);
    expect(await app.statuses("192.0.2.3", 1)).toEqual([429]);
    expect(await app.statuses("192.0.2.1", 1)).toEqual([200]);
  });

  it("counts by the connection, not by X-Forwarded-For", async () => {
    // The next one is due in a quarter of an hour.
    await using app = await serveWorld({}, { ratePerSecond: 0.001 });
    for (const [last, status] of [200, 429, 429].entries())
      expect((await app.get("/api/v1/", { "x-forwarded-for": `192.0.2.${last}` })).status).toBe(status);
  });

  it("is not limited by 0", async () => {
    const app = limited(0);
    expect(new Set(await app.statuses("192.0.2.1", 200))).toEqual(new Set([200]));
  });

  it.each([
    ["127.0.0.1", 0],
    ["127.1.2.3", 0],
    ["::1", 0],
    ["localhost", 0],
    ["0.0.0.0", 100],
    ["::", 100],
    ["192.168.1.2", 100],
    ["localhost.example.org", 100],
  ])("is on %s usually %d", (host, rate) => {
    expect(usualRate(host)).toBe(rate);
  });

  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0:0:1:2:3:4", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["1::", "1:0:0:0::/64"],
  ])("counts %s as %s", (address, client) => {
    expect(clientOf(address)).toBe(client);
  });
});

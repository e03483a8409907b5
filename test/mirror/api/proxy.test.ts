import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Proxies, readProxies } from "../../../src/base/config/proxies.ts";
import { HttpStatusError, NetworkError, TimeoutError } from "../../../src/base/errors.ts";
import { HAS_OPENSSL, makeCertificate } from "../../support/certificate.ts";
import { createTestClient } from "../../support/client.ts";
import { startProxy } from "../../support/proxy.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";

const asIs = { parse: (value: unknown) => value };
/** A host that no name server knows: who answers for it is the proxy. */
const HOST = "docs.example.invalid";

function proxiesOf(url: URL, login = ""): Proxies | undefined {
  const address = url.href.replace("//", `//${login}`);
  return readProxies([
    { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: "direct.example.invalid,localhost" },
  ]);
}

async function failureOf(proxies: Proxies | undefined, base: string, options = {}): Promise<Error> {
  await using client = createTestClient(base, { proxies, ...options });
  return await client.fetchJson("/api/v1/", asIs).then(
    () => Promise.reject(new Error("it was answered")),
    (error: unknown) => error as Error,
  );
}

describe("a service behind a proxy", () => {
  it("over plain HTTP is asked by forwarded requests, with the login of the proxy and of the service", async () => {
    await using server = await startScriptedServer([{ body: { it: "answers" } }]);
    await using proxy = await startProxy({ port: Number(server.url.port), login: "me:p%ss@" });
    const proxies = proxiesOf(proxy.url, "me:p%ss%40@");
    await using client = createTestClient(`http://you:secret@${HOST}`, { proxies });
    const { value } = await client.fetchJson("/api/v1/?limit=1", asIs);
    expect(value).toEqual({ it: "answers" });
    expect(proxy.requests).toEqual([`GET http://${HOST}/api/v1/?limit=1&format=json`]);
    const [{ headers } = { headers: {} }] = server.requests;
    expect(headers).toMatchObject({ host: HOST, authorization: `Basic ${btoa("you:secret")}` });
    expect(headers).not.toHaveProperty("proxy-authorization");
  });

  it("is asked directly where NO_PROXY names it", async () => {
    await using server = await startScriptedServer([{ body: {} }]);
    await using proxy = await startProxy({ port: 1 });
    const proxies = proxiesOf(proxy.url);
    await using client = createTestClient(`http://localhost:${server.url.port}`, { proxies });
    await client.fetchJson("/api/v1/", asIs);
    expect(proxy.requests).toEqual([]);
  });

  it("keeps its own statuses", async () => {
    await using server = await startScriptedServer([{ status: 404 }]);
    await using proxy = await startProxy({ port: Number(server.url.port) });
    const error = await failureOf(proxiesOf(proxy.url), `http://${HOST}`);
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({ status: 404 });
  });
});

describe.each(["http", "https"])("a proxy before a service of %s", (scheme) => {
  const base = `${scheme}://you:your-secret@${HOST}`;

  it("that cannot be reached is named, without its secrets", async () => {
    const proxies = proxiesOf(new URL("http://127.0.0.1:1"), "me:my-secret@");
    const error = await failureOf(proxies, base);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      exitCode: 5,
      message: expect.stringMatching(
        /^GET https?:\/\/docs\.example\.invalid\/api\/v1\/\S*: the proxy http:\/\/me:\*\*\*@127\.0\.0\.1:1 \(HTTPS?_PROXY\) cannot be reached: connect ECONNREFUSED/,
      ),
      hint: expect.stringContaining("NO_PROXY"),
    });
    expect(String(error)).not.toMatch(/secret/);
  });

  it("whose name nobody knows is named", async () => {
    const error = await failureOf(proxiesOf(new URL("http://proxy.example.invalid:3128")), base);
    expect(error.message).toMatch(/the proxy http:\/\/proxy\.example\.invalid:3128 .* cannot be reached: /);
  });

  it.each([
    "",
    "me:wrong-secret@",
    "token@",
  ])("that wants another login than '%s' is asked once", async (login) => {
    await using proxy = await startProxy({ port: 1, login: "me:right" });
    const error = await failureOf(proxiesOf(proxy.url, login), base);
    expect(error).toMatchObject({
      exitCode: 5,
      message: expect.stringMatching(
        /: the proxy http:\/\/\S*127\.0\.0\.1:\d+ \(HTTPS?_PROXY\) requires a valid login \(407\)$/,
      ),
      hint: expect.stringMatching(/^set user and password in HTTPS?_PROXY/),
    });
    expect(`${error}`).not.toMatch(/secret|token/);
    expect(proxy.requests).toHaveLength(1);
  });

  it("that hangs up is asked as often as there are tries, and no more", async () => {
    await using proxy = await startProxy({ port: 1, instead: "hang up" });
    expect(await failureOf(proxiesOf(proxy.url), base, { retries: 2 })).toBeInstanceOf(NetworkError);
    expect(proxy.requests).toHaveLength(3);
  });

  it("that says nothing runs into the time-out, which no stop waits for", { tags: ["long"] }, async () => {
    await using proxy = await startProxy({ port: 1, instead: "say nothing" });
    const error = await failureOf(proxiesOf(proxy.url), base, { retries: 0, timeoutMs: 100 });
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.message).toContain(`through the proxy http://${proxy.url.host}`);
    const client = createTestClient(base, { proxies: proxiesOf(proxy.url) });
    const asked = client.fetchJson("/api/v1/", asIs).catch((reason: unknown) => reason);
    await expect.poll(() => proxy.requests.length).toBeGreaterThan(1);
    await client.close();
    expect(String(await asked)).toContain("the client was closed");
  });
});

it.each([
  403, 404, 410,
])("a tunnel refused with %i is no answer of the service, nor asked for again", async (status) => {
  await using proxy = await startProxy({ port: 1, instead: status });
  const error = await failureOf(proxiesOf(proxy.url), `https://${HOST}`);
  expect(error).toBeInstanceOf(NetworkError);
  expect(error).not.toBeInstanceOf(HttpStatusError);
  expect(error.message).toContain(`did not connect to ${HOST}: it answered ${status}`);
  expect(proxy.requests).toEqual([`CONNECT ${HOST}:443`]);
});

it("a tunnel that the proxy cannot make for now is asked for again", async () => {
  await using proxy = await startProxy({ port: 1, instead: 503 });
  const error = await failureOf(proxiesOf(proxy.url), `https://${HOST}`, { retries: 2 });
  expect(error).toBeInstanceOf(NetworkError);
  expect(proxy.requests).toHaveLength(3);
});

describe.skipIf(!HAS_OPENSSL)("a service over TLS behind a proxy", () => {
  let server: ReturnType<typeof createHttpsServer>;
  let asked = 0;
  beforeAll(async () => {
    server = createHttpsServer(makeCertificate(`DNS:${HOST}`), (_request, response) => {
      asked += 1;
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => void server?.close());

  it("is spoken to through a tunnel, and its certificate is looked at", async () => {
    await using proxy = await startProxy({ port: (server.address() as AddressInfo).port, login: "me:right" });
    const error = await failureOf(proxiesOf(proxy.url, "me:right@"), `https://${HOST}`, { retries: 0 });
    const hint = expect.stringContaining("the service's certificate is not trusted");
    expect(error).toMatchObject({ message: expect.stringContaining("self-signed certificate"), hint });
    expect({ asked, requests: proxy.requests }).toEqual({ asked: 0, requests: [`CONNECT ${HOST}:443`] });
  });

  it("is not spoken to where the proxy itself is not trusted", async () => {
    await using proxy = await startProxy({ port: 1, certificate: makeCertificate("DNS:localhost") });
    proxy.url.hostname = "localhost";
    expect((await failureOf(proxiesOf(proxy.url), `https://${HOST}`, { retries: 0 })).message).toMatch(
      /the proxy https:\/\/localhost:\d+ \(HTTPS_PROXY\) cannot be reached: .*certificate/,
    );
    expect(proxy.requests).toEqual([]);
  });
});

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HAS_OPENSSL, makeCertificate } from "../support/certificate.ts";
import { runCli } from "../support/cli.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { PLANTED_SECRET } from "../support/planted-secret.ts";
import { startProxy } from "../support/proxy.ts";
import { type QuickWorld, startQuickWorld } from "../support/quick-world.ts";

/** A host that only the proxy knows. */
const HOST = "docs.example.invalid";
const SECRET = PLANTED_SECRET;

let quick: QuickWorld;
let port: number;
beforeAll(async () => {
  quick = await startQuickWorld({ users: 5, projects: 5, versions: 8, files: 4, builds: 20 });
  port = Number(new URL(quick.simulation.url).port);
});
afterAll(() => quick?.[Symbol.asyncDispose]());

const folder = useFolder("docmirror-proxy-");

const addressOf = (url: URL) => url.href.replace("//", `//me:${SECRET}@`);

const run = (args: string[], env: Record<string, string>) =>
  runCli(args, { env: { DOCMIRROR_RATE: "0", ...env } });

const countBuilds = async ({ sql }: TestDatabase) => (await sql`select from mirror.builds`).length;

describe("a sync through a proxy", { tags: ["long"] }, () => {
  it("mirrors a service of plain HTTP, and asks nothing past the proxy", async () => {
    await using database = await createTestDatabase();
    await using proxy = await startProxy({ port, login: `me:${SECRET}` });
    const env = { DATABASE_URL: database.url, http_proxy: addressOf(proxy.url) };
    const { code, stderr } = await run(["sync", "--base-url", `http://${HOST}`], env);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await countBuilds(database)).toBe(20);
    expect(proxy.requests.filter((request) => !request.startsWith(`GET http://${HOST}/api/v1/`))).toEqual([]);
    expect(proxy.requests.length).toBeGreaterThan(5);
  });

  it.skipIf(!HAS_OPENSSL)("mirrors a service over TLS, in tunnels that it keeps", async () => {
    const certificate = makeCertificate(`DNS:${HOST}`);
    const tls = createTlsServer(certificate, (socket) => {
      const onward = connect(port, "127.0.0.1");
      socket.on("error", () => onward.destroy()).on("close", () => onward.destroy());
      onward.on("error", () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    }).listen(0, "127.0.0.1");
    try {
      await once(tls, "listening");
      writeFileSync(folder.at("authority.crt"), certificate.cert);
      await using database = await createTestDatabase();
      const { port: tlsPort } = tls.address() as AddressInfo;
      await using proxy = await startProxy({ port: tlsPort, login: `me:${SECRET}` });
      const env = {
        DATABASE_URL: database.url,
        HTTPS_PROXY: addressOf(proxy.url),
        NODE_EXTRA_CA_CERTS: folder.at("authority.crt"),
        // A check has tunnels of its own.
        DOCMIRROR_VERIFY_SAMPLE: "0",
      };
      const args = ["sync", "--base-url", `https://${HOST}`, "--concurrency", "2"];
      const { code, stderr } = await run(args, env);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(await countBuilds(database)).toBe(20);
      expect(new Set(proxy.requests)).toEqual(new Set([`CONNECT ${HOST}:443`]));
      expect(proxy.requests.length).toBeLessThanOrEqual(2);
    } finally {
      tls.close();
    }
  });

  it("that is not there exits 5, names the proxy and prints no secret", async () => {
    await using database = await createTestDatabase();
    const env = { DATABASE_URL: database.url, HTTP_PROXY: `http://me:${SECRET}@127.0.0.1:1` };
    const args = ["sync", "--base-url", `http://${HOST}`, "--retries", "0"];
    const { code, stdout, stderr } = await run(args, env);
    expect(code).toBe(5);
    const proxy = "the proxy http://me:***@127.0.0.1:1 (HTTP_PROXY)";
    expect(stderr).toContain(`${proxy} cannot be reached: connect ECONNREFUSED`);
    expect(stdout + stderr).not.toContain(SECRET);
  });
});

describe("doctor", () => {
  const doctor = async (base: string, env: Record<string, string>) => {
    await using database = await createTestDatabase();
    const ours = { DATABASE_URL: database.url, ...env };
    const { stdout, stderr } = await run(["doctor", "--json", "--base-url", base], ours);
    expect(stdout + stderr).not.toContain(SECRET);
    const { checks } = JSON.parse(stdout) as { checks: { check: string; status: string; finding: string }[] };
    return Object.fromEntries(checks.map(({ check, status, finding }) => [check, { status, finding }]));
  };

  it("shows the proxy that is gone through, its secret masked", async () => {
    await using proxy = await startProxy({ port, login: `me:${SECRET}` });
    const env = { HTTP_PROXY: addressOf(proxy.url), DOCMIRROR_RATE: "1000" };
    const { settings, service } = await doctor(`http://${HOST}`, env);
    expect(settings?.finding).toContain(`through the proxy http://me:***@${proxy.url.host} (HTTP_PROXY)`);
    expect(service?.status).toBe("ok");
    expect(proxy.requests.length).toBeGreaterThan(0);
  });

  it("shows why the service is asked directly", { tags: ["long"] }, async () => {
    const env = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "example.org,127.0.0.0/8" };
    const { settings, service } = await doctor(quick.simulation.url, env);
    expect(settings?.finding).toMatch(/asked directly: NO_PROXY has 127\.0\.0\.0\/8$/);
    expect(service?.status).toBe("ok");
    for (const [others, why] of [
      [{}, "no proxy is set"],
      [{ HTTPS_PROXY: "http://127.0.0.1:1" }, "HTTP_PROXY is not set"],
    ] as const) {
      const told = await doctor(quick.simulation.url, others);
      expect(told.settings?.finding).toMatch(new RegExp(`asked directly: ${why}$`));
    }
  });

  it("finds a value that is not a proxy's address, and does not print it", async () => {
    const { settings } = await doctor(`http://${HOST}`, { HTTP_PROXY: `socks5://me:${SECRET}@proxy:1080` });
    const finding = expect.stringMatching(/HTTP_PROXY: the value is not a proxy's address/);
    expect(settings).toMatchObject({ status: "fault", finding });
  });
});

it("a proxy of no use matters to nobody where it is not gone through", { tags: ["long"] }, async () => {
  await using database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, HTTP_PROXY: "socks5://proxy:1080", NO_PROXY: "127.0.0.1" };
  expect(await run(["sync", "--base-url", quick.simulation.url], env)).toMatchObject({ code: 0 });
  expect(await run(["status"], env)).toMatchObject({ code: 0 });
});

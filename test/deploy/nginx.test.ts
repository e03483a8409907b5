import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { createFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { seedPages } from "../support/served-pages.ts";

const IS_HERE = spawnSync("nginx", ["-v"]).status === 0;
if (!IS_HERE) process.stderr.write("nginx is not here, so the test of its sample is skipped\n");

const LIST = "/api/v1/project/?limit=50";

async function get(url: string, headers: Record<string, string> = {}) {
  const sent = request(url, { headers }).end();
  const [reply] = await once(sent, "response");
  return { status: reply.statusCode, headers: reply.headers, body: await buffer(reply) };
}

async function startNginx(upstream: string) {
  const folder = createFolder("docmirror-nginx-");
  const port = await freePort();
  let sample = readFileSync(new URL("../../deploy/nginx/docmirror.conf", import.meta.url), "utf8");
  for (const [from, to] of [
    ["/var/cache/nginx/docmirror", folder.at("kept")],
    ["server 127.0.0.1:8321;", `server ${new URL(upstream).host};`],
    ["listen 80;", `listen 127.0.0.1:${port};`],
  ] as const) {
    expect(sample).toContain(from);
    sample = sample.replaceAll(from, to);
  }
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => {
    mkdirSync(folder.at(name));
    return `${name}_temp_path ${folder.at(name)};`;
  });
  const file = folder.at("nginx.conf");
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? "user root;" : ""}
     daemon off; pid ${folder.at("pid")}; error_log stderr;
     worker_processes 1; events {}
     http { access_log off; ${temporary.join(" ")}
     ${sample}}`,
  );
  const child = spawn("nginx", ["-c", file, "-p", folder.path], { stdio: ["ignore", "ignore", "inherit"] });
  const end = () => void child.kill("SIGKILL");
  process.once("exit", end);
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(async () => (await fetch(`${url}/livez`).catch(() => null))?.status).toBe(200);
  return {
    url,
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      const ended = once(child, "exit");
      // Its own processes end with it.
      if (child.exitCode === null && child.kill("SIGTERM")) await ended;
      folder[Symbol.dispose]();
    },
  };
}

describe("the sample for nginx", () => {
  it.skipIf(!IS_HERE)("keeps what may be kept, and nothing else", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await using cli = startCli(["serve", "--http-port", "0"], { env: { DATABASE_URL: database.url } });
    const [upstream] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    await expect.poll(async () => (await get(`${upstream}/readyz`)).status).toBe(200);
    await using cache = await startNginx(upstream);
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
    await database.sql.unsafe("update mirror.projects set name = 'renamed' where id = '1'");
    const isNew = async () => (await get(cache.url + LIST)).body.includes("renamed");
    await expect.poll(isNew).toBe(true);
    expect(await isNew()).toBe(true);

    expect((await cli.stop()).code).toBe(143);
  });
});

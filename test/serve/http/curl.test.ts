import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SimulatedApp, serveWorld } from "./simulated-app.ts";

const run = promisify(execFile);
const hasCurl = await run("curl", ["--version"]).then(
  ({ stdout }) => /libz|zlib/.test(stdout),
  () => false,
);

describe.skipIf(!hasCurl)("curl", () => {
  let app: SimulatedApp;
  beforeAll(async () => {
    app = await serveWorld({ lastModified: async () => new Date("2024-05-15T12:00:00Z") });
  });
  afterAll(() => app?.[Symbol.asyncDispose]());

  const curl = async (path: string, ...options: string[]) =>
    (await run("curl", ["--silent", "--show-error", "--noproxy", "*", ...options, app.url + path])).stdout;
  const LIST = "/api/v1/build/?limit=20";

  it("-I shows the headers of a list, and waits for no body", async () => {
    const [headers, body] = await Promise.all([curl(LIST, "-I"), curl(LIST)]);
    expect(headers).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(headers).toMatch(/^content-type: application\/json\r$/im);
    expect(headers).toMatch(new RegExp(`^content-length: ${Buffer.byteLength(body)}\r$`, "im"));
    expect(headers).toMatch(/^last-modified: Wed, 15 May 2024 12:00:00 GMT\r$/im);
  });

  it("-L gets a record without the closing slash, in one request", async () => {
    const bare = await curl("/api/v1/user/1", "-L", "-w", "%{num_redirects}");
    expect(bare).toBe(`${await curl("/api/v1/user/1/")}0`);
  });

  it("--compressed gets the same body in fewer bytes", async () => {
    const size = ["-o", "/dev/null", "-w", "%{size_download}"];
    expect(await curl(LIST, "--compressed")).toBe(await curl(LIST));
    const [packed, plain] = [await curl(LIST, "--compressed", ...size), await curl(LIST, ...size)];
    expect(Number(packed)).toBeLessThan(Number(plain) / 2);
  });

  it.each(["plain", "compressed"])("asks again by the tag of a %s reply, and by its moment", async (how) => {
    const options = how === "compressed" ? ["--compressed"] : [];
    const headers = await curl(LIST, "-I", ...options);
    const status = (condition: string) =>
      curl(LIST, ...options, "-H", condition, "-o", "/dev/null", "-w", "%{http_code} %{size_download}");
    const headerOf = (name: string) => new RegExp(`^${name}: (.*)\r$`, "im").exec(headers)?.[1] ?? "";
    expect(await status(`If-None-Match: ${headerOf("etag")}`)).toBe("304 0");
    expect(await status(`If-Modified-Since: ${headerOf("last-modified")}`)).toBe("304 0");
    expect(await status('If-None-Match: "another"')).toMatch(/^200 /);
  });

  it("-f fails for what is not there", async () => {
    await expect(curl("/api/v1/build/999999999/", "-f")).rejects.toMatchObject({ code: 22 });
  });

  it("gets names outside ASCII and brackets with --data-urlencode", async () => {
    const page = JSON.parse(await curl("/api/v1/project/", "-G", "--data-urlencode", "slug=grün[1]"));
    expect(page.meta.total_count).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { RESOURCES } from "../../src/resources/resources.ts";
import { runCli, startCli } from "../support/cli.ts";

const SMALL = "--users 5 --projects 4 --versions 6 --files 5 --builds 8 --seed 3".split(" ");

describe("simulate and get", () => {
  it("serve and ask the whole interface until a signal comes", async () => {
    await using service = startCli(["simulate", ...SMALL, "--speed", "0"]);
    const [baseUrl] = await service.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    const get = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli(["get", ...args, "--json", "--base-url", baseUrl]);
      return { code, stderr, value: code === 0 ? JSON.parse(stdout) : stdout };
    };
    const root = await get();
    const list = await get("build", "--limit", "3", "--offset", "2");
    const filtered = await get("user", "--filter", "username=nobody-of-this-name");
    const record = await get("user", "1");
    const schema = await get("build", "--schema");
    const absent = await get("build", "999999999", "--retries", "0");
    expect(Object.keys(root.value).sort()).toEqual(RESOURCES.toSorted());
    expect(list.value.meta).toMatchObject({ limit: 3, offset: 2, total_count: 8 });
    expect(list.value.objects).toHaveLength(3);
    expect(filtered.value.objects).toEqual([]);
    expect(record.value).toMatchObject({ id: "1", resource_uri: "/api/v1/user/1/" });
    expect(schema.value).toHaveProperty("fields");
    expect(absent).toMatchObject({ code: 12, value: "" });
    expect(absent.stderr).toMatch(/^docmirror: The service has no build 999999999\n/);

    const { port } = new URL(baseUrl);
    const second = await runCli(["simulate", ...SMALL, "--port", port]);
    expect(second).toMatchObject({ code: 2, stdout: "" });
    expect(second.stderr).toContain(`could not listen on 127.0.0.1, port ${port}: another program`);
    const nowhere = await runCli(["simulate", ...SMALL, "--host", "192.0.2.1"]);
    expect(nowhere).toMatchObject({ code: 2, stdout: "" });
    expect(nowhere.stderr).toContain("could not listen on 192.0.2.1, port 0: this machine has no such");

    expect(await service.stop()).toMatchObject({ code: 143, stdout: `${baseUrl}\n` });
  });

  it("live now, or from noon of the day that is given", { tags: ["long"] }, async () => {
    const settingsOf = async (...args: string[]) => {
      await using service = startCli(["simulate", ...SMALL, "--json", ...args]);
      const [text] = await service.waitFor("stdout", /^\{.*\}(?=\n)/s);
      return JSON.parse(text).settings;
    };
    const before = Date.now();
    const begun = Date.parse((await settingsOf()).startAt);
    expect(begun).toBeGreaterThan(before - 60_000);
    expect(begun).toBeLessThanOrEqual(Date.now());
    expect(await settingsOf("--start", "2024-02-29")).toMatchObject({ startAt: "2024-02-29T12:00:00.000Z" });
    for (const wrong of ["2023-02-29", "0001-01-01", "2024-5-1", "tomorrow", ""]) {
      const { code, stderr } = await runCli(["simulate", "--start", wrong]);
      expect({ wrong, code, stderr }).toMatchObject({ code: 2 });
      expect(stderr).toContain("is not a day such as 2024-05-15");
    }
  });

  it("get asks again while nothing answers, and Ctrl-C ends the waiting", { tags: ["long"] }, async () => {
    // Port 1 answers on no machine that runs tests.
    await using cli = startCli(["get", "--base-url", "http://127.0.0.1:1", "--retries", "100"]);
    await cli.waitFor("stderr", /trying again/);
    expect(await cli.stop("SIGINT")).toMatchObject({ code: 130, stdout: "" });
  });
});

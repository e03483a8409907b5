import { describe, expect, it } from "vitest";
import { defaultValues } from "../../src/base/config.ts";
import { ConfigError } from "../../src/base/errors.ts";
import { resolveOptions } from "../../src/client/resolve-options.ts";

const baseUrl = "https://docs.example.org/old/";

describe("resolveOptions", () => {
  it("has the defaults of the settings", () => {
    const said = {
      ratePerSecond: 5,
      concurrency: 4,
      timeoutMs: 30_000,
      retries: 5,
      maxBodyBytes: 64 * 2 ** 20,
    };
    expect(resolveOptions({ baseUrl })).toMatchObject(said);
    expect(defaultValues()).toMatchObject(said);
  });

  it("takes the values that are given, and the base URL as text or URL", () => {
    const given = { ratePerSecond: 0.5, concurrency: 1, timeoutMs: 100, retries: 0, maxBodyBytes: 1000 };
    expect(resolveOptions({ baseUrl: new URL(baseUrl), ...given })).toMatchObject({
      ...given,
      baseUrl: new URL("https://docs.example.org/old"),
    });
  });

  it("names every fault at once, and no password", () => {
    const wrong = { ratePerSecond: -1, retries: Number.NaN, maxBodyBytes: 0 };
    const make = () => resolveOptions({ baseUrl: "ftp://me:secret@x/", ...wrong });
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(/baseUrl: "ftp:.*; ratePerSecond: -1 .*; retries: NaN .*; maxBodyBytes: 0 /);
    expect(make).not.toThrow(/secret/);
  });

  it("refuses a base URL that ends in the API's own path", () => {
    const make = () => resolveOptions({ baseUrl: "https://docs.example.org/api/v1/" });
    expect(make).toThrow(/give the part before/);
  });

  it("takes the proxies of the environment, unless told not to", () => {
    const before = process.env.http_proxy;
    process.env.http_proxy = "http://proxy.invalid:3128";
    try {
      const proxies = { http: { value: new URL("http://proxy.invalid:3128") } };
      expect(resolveOptions({ baseUrl })).toMatchObject({ proxies });
      expect(resolveOptions({ baseUrl, useProxies: false }).proxies).toBeUndefined();
    } finally {
      if (before === undefined) delete process.env.http_proxy;
      else process.env.http_proxy = before;
    }
  });
});

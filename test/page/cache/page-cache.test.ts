import { describe, expect, it } from "vitest";
import { createPageCache } from "../../../src/page/cache/kept-pages.ts";

/** A maker that counts, and whose pages come when they are let go. */
function createMaker() {
  const waiting: { resolve(body: string): void; reject(error: Error): void }[] = [];
  return {
    made: () => waiting.length,
    make: () =>
      new Promise<{ status: 200; body: string }>((resolve, reject) => {
        waiting.push({ resolve: (body) => resolve({ status: 200, body }), reject });
      }),
    waiting,
  };
}

describe("a page cache", () => {
  it("makes a page once for all who ask meanwhile, and not again until the revision changes", async () => {
    const { make, made, waiting } = createMaker();
    const cache = createPageCache();
    const both = [cache.find("/", "1", make), cache.find("/", "1", make)];
    waiting[0]?.resolve("a page");
    const [first, second] = await Promise.all(both);
    expect(first).toBe(second);
    expect(await cache.find("/", "1", make)).toBe(first);
    expect(made()).toBe(1);
    const anew = cache.find("/", "2", make);
    waiting[1]?.resolve("another page");
    expect((await anew).etag).not.toBe(first?.etag);
    expect(made()).toBe(2);
  });

  it("forgets a page that could not be made", async () => {
    const { make, waiting } = createMaker();
    const cache = createPageCache();
    const failed = cache.find("/", "1", make);
    waiting[0]?.reject(new Error("no database"));
    await expect(failed).rejects.toThrow("no database");
    const again = cache.find("/", "1", make);
    waiting[1]?.resolve("a page");
    expect((await again).body).toBe("a page");
  });

  it("gives a page to all who wait for it, also when the cache has let go of it meanwhile", async () => {
    const { make, waiting } = createMaker();
    const cache = createPageCache(30);
    const slow = cache.find("slow", "1", make);
    for (const key of ["a", "b", "c"]) {
      await cache.find(key, "1", async () => ({ status: 200, body: "0123456789" }));
    }
    waiting[0]?.resolve("a page");
    expect((await slow).body).toBe("a page");
  });

  it("lets go of what was asked for least lately when it is full", async () => {
    const cache = createPageCache(30);
    const made: string[] = [];
    const find = (key: string) =>
      cache.find(key, "1", async () => {
        made.push(key);
        return { status: 200, body: "0123456789" };
      });
    for (const key of ["a", "b", "a", "c", "a", "b"]) await find(key);
    expect(made).toEqual(["a", "b", "c", "b"]);
    await cache.find("big", "1", async () => ({ status: 200, body: "x".repeat(100) }));
    // A page that is larger than the cache leaves the others in it.
    await find("b");
    expect(made).toEqual(["a", "b", "c", "b"]);
  });
});

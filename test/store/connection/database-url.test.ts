import { describe, expect, test } from "vitest";
import { parseDatabaseUrl, withPassword } from "../../../src/store/connection/database-url.ts";

describe("withPassword", () => {
  const password = ` it's "50%" @:/?#[]&=+ ü€😀 `;

  test.each([
    "postgres://me@db.example/m",
    "postgres://me:@db.example:6543/m?sslmode=prefer",
    "postgres://a%40b@one,two:1/m?target_session_attrs=read-write",
    "postgres://me@/m?host=/run/postgresql&port=5433",
    "postgres:///m?user=me&password=",
    "postgres://[::1]",
  ])("%s gets it, and nothing else in it changes", (url) => {
    expect(parseDatabaseUrl(withPassword(url, password))).toEqual({ ...parseDatabaseUrl(url), password });
  });

  test.each([
    "postgres://me:other@db.example/m",
    "postgres://me@db.example/m?password=other",
    "no address",
  ])("%s stays as it is", (url) => {
    expect(withPassword(url, password)).toBe(url);
  });
});

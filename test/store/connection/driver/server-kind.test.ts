/** @module-tag long */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSql } from "../../../../src/store/connection/connect.ts";
import type { Sql } from "../../../../src/store/connection/sql.ts";
import { POSTGRES_BIN, type Replicated, startReplicated } from "../../../support/system-postgres.ts";

describe.skipIf(POSTGRES_BIN === null)("a server of several (needs pg_basebackup)", () => {
  let servers: Replicated;
  beforeAll(async () => {
    servers = await startReplicated();
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  function urlOf(first: "primary" | "replica", attrs: string, of: Replicated = servers): string {
    const hosts = [new URL(of.primaryUrl).host, new URL(of.replicaUrl).host];
    if (first === "replica") hosts.reverse();
    const url = new URL(of.primaryUrl);
    return `${url.protocol}//${url.username}:${url.password}@${hosts.join(",")}${url.pathname}?target_session_attrs=${attrs}`;
  }

  async function kindAt(url: string, session: Record<string, string> = {}): Promise<string> {
    const options = { applicationName: "docmirror test", session };
    const ask = (sql: Sql) => sql<[{ is_standby: boolean }]>`select pg_is_in_recovery() as is_standby`;
    const [row] = await withSql(url, options, ask);
    return row.is_standby ? "replica" : "primary";
  }

  it.each([
    ["read-write", "primary"],
    ["primary", "primary"],
    ["read-only", "replica"],
    ["standby", "replica"],
    ["prefer-standby", "replica"],
  ])("is for %s the %s, whichever comes first", async (attrs, kind) => {
    expect(await kindAt(urlOf("primary", attrs))).toBe(kind);
    expect(await kindAt(urlOf("replica", attrs))).toBe(kind);
  });

  it("is chosen by what it is, not by what the session may do", async () => {
    const session = { default_transaction_read_only: "on" };
    expect(await kindAt(urlOf("replica", "read-write"), session)).toBe("primary");
  });

  it("is found for each connection of a pool", async () => {
    await withSql(
      urlOf("replica", "read-write"),
      { applicationName: "docmirror test", max: 4 },
      async (sql) => {
        const asked = Array.from(
          { length: 8 },
          () => sql`select pg_is_in_recovery() as is_standby, pg_sleep(0.01)`,
        );
        for (const [row] of await Promise.all(asked)) expect(row?.is_standby).toBe(false);
      },
    );
  });

  it("is none while the primary is gone, which is told at once, until the standby is promoted", async () => {
    await using own = await startReplicated();
    await own.stop("primary");
    for (const first of ["primary", "replica"] as const) {
      await expect(kindAt(urlOf(first, "read-write", own))).rejects.toMatchObject({
        code: "WRONG_SERVERS",
        message: expect.stringContaining(`${new URL(own.primaryUrl).host} gave ECONNREFUSED`),
      });
      await expect(kindAt(urlOf(first, "read-write", own))).rejects.toThrow(
        `${new URL(own.replicaUrl).host} is a standby`,
      );
    }
    expect(await kindAt(urlOf("primary", "prefer-standby", own))).toBe("replica");
    await own.ask("replica", "select pg_promote()");
    for (const first of ["primary", "replica"] as const) {
      expect(await kindAt(urlOf(first, "read-write", own))).toBe("primary");
    }
    await expect(kindAt(urlOf("primary", "standby", own))).rejects.toMatchObject({ code: "WRONG_SERVERS" });
  });
});

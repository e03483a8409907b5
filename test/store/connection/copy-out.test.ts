import { describe, expect, it } from "vitest";
import { copyOut } from "../../../src/store/connection/copy.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const ENDLESS = "copy (select generate_series(1, 1000000000), repeat('x', 1000)) to stdout";

describe("copyOut", () => {
  const { sql } = useDatabase(emptyDatabase);

  /** Copies in a transaction that must work afterwards, and so must its connection. */
  async function copy(
    text: string,
    write: (rows: readonly Buffer[]) => Promise<void>,
    signal = new AbortController().signal,
  ) {
    const failure = await sql.begin((tx) =>
      copyOut(tx, text, write, signal).catch((error: unknown) => error),
    );
    expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }]);
    return failure;
  }

  it("gives each row with its end of line, whatever is in it", async () => {
    const rows: string[] = [];
    const text = `copy (values (1, 'a,"b"'), (2, E'two\\nlines'), (3, null), (4, '')) to stdout (format csv)`;
    expect(await copy(text, async (some) => void rows.push(...some.map(String)))).toBeUndefined();
    expect(rows).toEqual(['1,"a,""b"""\n', '2,"two\nlines"\n', "3,\n", '4,""\n']);
  });

  it("holds few rows while the reader is slow", async () => {
    let most = 0;
    let bytes = 0;
    const text = "copy (select repeat('x', 1000) from generate_series(1, 20000)) to stdout";
    await copy(text, async (rows) => {
      const size = rows.reduce((sum, row) => sum + row.length, 0);
      most = Math.max(most, size);
      bytes += size;
      await new Promise(setImmediate);
    });
    expect(bytes).toBe(20_000 * 1001);
    expect(most).toBeLessThan(4 << 20);
  });

  it("ends with the reader's failure, and its connection goes on", async () => {
    const failure = new Error("the disk is full");
    expect(await copy(ENDLESS, () => Promise.reject(failure))).toBe(failure);
  });

  it("ends when it is aborted, and its connection goes on", async () => {
    const stop = new AbortController();
    const reason = new Error("stop it");
    expect(await copy(ENDLESS, async () => stop.abort(reason), stop.signal)).toBe(reason);
  });

  it("ends with what the server says", async () => {
    const failing = "copy (select 1 / (500 - n) from generate_series(1, 1000) as n) to stdout";
    expect(await copy(failing, async () => {})).toMatchObject({ code: "22012" });
  });
});

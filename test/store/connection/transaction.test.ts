import { beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { StoreError } from "../../../src/base/errors.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import { copyOut } from "../../../src/store/connection/copy.ts";
import {
  repeatAfterConflict,
  type TransactionSql,
  withTransaction,
} from "../../../src/store/connection/sql.ts";
import { isRecoveryConflict } from "../../../src/store/connection/store-errors.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => emptyDatabase(4));
const { sql } = database;
beforeAll(async () => {
  await sql`create table t (n integer primary key)`;
});

/** Ends the session of a transaction at the server, from another one. */
const cut = async (tx: TransactionSql) => cutOf(await pidOf(tx));
async function pidOf(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}
const cutOf = (pid: number) => sql`select pg_terminate_backend(${pid}, 5000)`;
const openPool = (max: number, applicationName = "docmirror leaving") => {
  const pool = connect(database.url, { applicationName, max });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end({ timeout: 0 }) });
};

describe("a transaction", () => {
  test("goes on when a savepoint failed", async () => {
    await withTransaction(sql, async (tx) => {
      await tx`insert into t values (4)`;
      const failed = tx.savepoint((savepoint) => savepoint`insert into t values (4)`);
      await expect(failed).rejects.toMatchObject({ code: "23505" });
      await tx`insert into t values (5)`;
    });
    expect(await sql`select n from t where n in (4, 5) order by n`).toEqual([{ n: 4 }, { n: 5 }]);
  });
});

// The driver pauses its socket for a reader that lags, and nothing but the next statement wakes it.
const SIZES = [1, 60_000, 3_000_000];
test.each(SIZES)("a COPY of %i bytes whose reader lags is followed by the next statement", async (bytes) => {
  const found = await withTransaction(sql, async (tx) => {
    const rows = await tx
      .unsafe(`copy (select repeat('x', 1000) from generate_series(0, ${bytes} / 1000)) to stdout`)
      .readable();
    let read = 0;
    for await (const chunk of rows as AsyncIterable<Buffer>) {
      await systemClock.sleep(1);
      read += chunk.length;
    }
    return [read, ...(await tx`select 1 as one`)];
  });
  expect(found).toEqual([1001 * (Math.floor(bytes / 1000) + 1), { one: 1 }]);
});

// An error that nobody could catch would fail the whole test run.
describe("a transaction whose connection is lost", () => {
  type Body = (tx: TransactionSql) => Promise<unknown>;
  const aWhileBefore =
    (body: Body): Body =>
    async (tx) => {
      await cut(tx).catch(() => {});
      await systemClock.sleep(50);
      await body(tx);
    };
  const cases: Record<string, Body> = {
    "between two statements": async (tx) => {
      await cut(tx);
      await tx`select 1`;
    },
    "within a statement": (tx) => tx`select pg_terminate_backend(pg_backend_pid())`,
    "within a savepoint": (tx) =>
      tx.savepoint((savepoint) => savepoint`select pg_terminate_backend(pg_backend_pid())`),
    "between two savepoints": async (tx) => {
      await cut(tx);
      await tx.savepoint((savepoint) => savepoint`select 1`).catch(() => {});
      await tx.savepoint((savepoint) => savepoint`select 1`);
    },
    "under a COPY": async (tx) => {
      const pid = await pidOf(tx);
      const stream = await tx`copy t from stdin`.writable();
      stream.on("error", () => {});
      await cutOf(pid);
      stream.write("7\n");
      await tx.unsafe("select 1");
    },
    "a while before its next statement": aWhileBefore((tx) => tx`select 1`),
    "a while before its next text": aWhileBefore((tx) => tx.unsafe("select 1")),
    "a while before its next savepoint": aWhileBefore((tx) =>
      tx.savepoint((savepoint) => savepoint`select 1`),
    ),
    "under a cursor": async (tx) => {
      const pid = await pidOf(tx);
      for await (const [read] of tx<{ n: number }[]>`select n from generate_series(1, 3) as n`.cursor(1)) {
        expect(read?.n).toBe(1);
        await cutOf(pid);
      }
    },
    "and that does not heed it": async (tx) => {
      for (let round = 0; round < 5; round++) await cut(tx).catch(() => {});
    },
  };

  test.each(Object.keys(cases))("%s rejects and stores nothing", async (name) => {
    await using own = openPool(1, "docmirror test");
    const lost = withTransaction(own, async (tx) => {
      await tx`insert into t values (6)`;
      await cases[name]?.(tx);
    });
    await expect(lost).rejects.toMatchObject({
      code: expect.stringMatching(/^(CONNECTION_CLOSED|57P01|ECONNRESET)$/),
    });
    expect(await sql`select n from t where n = 6`).toEqual([]);
  });
});

describe("a transaction whose caller leaves", () => {
  const gone = new Error("the caller is gone");
  const MANY = Array.from({ length: 30 }, (_, place) => place);
  const running = () =>
    sql`select query from pg_stat_activity
      where datname = current_database() and application_name = 'docmirror leaving' and state <> 'idle'`;
  const isSleeping = async () => (await running()).some(({ query }) => query.includes("pg_sleep"));

  test.each<[string, (tx: TransactionSql) => Promise<unknown>]>([
    ["one statement", (tx) => tx`select pg_sleep(60)`],
    [
      "many statements at once",
      (tx) => Promise.all(MANY.map((place) => tx.unsafe(`select pg_sleep(60), ${place}`))),
    ],
    ["a statement of a savepoint", (tx) => tx.savepoint((inner) => inner`select pg_sleep(60)`)],
  ])("has %s cancelled at the server, and its connection serves the next one", async (_case, body) => {
    await using own = openPool(1);
    const stop = new AbortController();
    const left = withTransaction(own, body, stop.signal).catch((error: unknown) => error);
    await expect.poll(isSleeping).toBe(true);
    stop.abort(gone);
    expect(await left).toBe(gone);
    expect(await running()).toEqual([]);
    for (let round = 0; round < 20; round++) {
      const rows = await withTransaction(own, async (tx) => tx`select ${round}::int as round`);
      expect(rows).toEqual([{ round }]);
    }
  });

  test("begins nothing for one who left while every connection was busy", async () => {
    await using own = openPool(1);
    const stop = new AbortController();
    const busy = withTransaction(own, (tx) => tx`select pg_sleep(60)`, stop.signal).catch(() => "stopped");
    await expect.poll(isSleeping).toBe(true);
    const waiting = new AbortController();
    const begin = vi.fn(async () => {});
    const waits = withTransaction(own, begin, waiting.signal).catch((error: unknown) => error);
    waiting.abort(gone);
    expect(await waits).toBe(gone);
    stop.abort(gone);
    expect(await busy).toBe("stopped");
    expect(await withTransaction(own, (tx) => tx`select 1 as one`)).toEqual([{ one: 1 }]);
    expect(begin).not.toHaveBeenCalled();
  });

  test("is rolled back, whatever its body makes of the cancelled statement", async () => {
    await using own = openPool(1);
    const stop = new AbortController();
    const ignore = async (tx: TransactionSql) => {
      await tx`insert into t values (8)`;
      await tx.savepoint((inner) => inner`select pg_sleep(60)`).catch(() => {});
    };
    const left = withTransaction(own, ignore, stop.signal).catch((error: unknown) => error);
    await expect.poll(isSleeping).toBe(true);
    stop.abort(gone);
    expect(await left).toBe(gone);
    expect(await sql`select n from t where n = 8`).toEqual([]);
  });
});

const conflict = () => new StoreError("could not read", { sqlstate: "40001" });

function failing(times: number, error: () => Error): () => Promise<number> {
  let asked = 0;
  return async () => {
    if (asked++ < times) throw error();
    return asked;
  };
}

describe("a read that a standby cancelled", () => {
  test("is done once more, and not a third time", async () => {
    expect(await repeatAfterConflict(failing(1, conflict))).toBe(2);
    await expect(repeatAfterConflict(failing(2, conflict))).rejects.toThrow("could not read");
  });

  test("is not done again where that would send rows twice", async () => {
    await expect(repeatAfterConflict(failing(1, conflict), () => false)).rejects.toThrow("could not read");
  });

  test("is told from other failures, which are not done again", async () => {
    const told = ["40001", "40P01", "57014", "08006"].map((sqlstate) =>
      isRecoveryConflict(new StoreError("", { sqlstate })),
    );
    expect(told).toEqual([true, true, false, false]);
    await expect(repeatAfterConflict(failing(1, () => new Error("a bug")))).rejects.toThrow("a bug");
  });
});

const ENDLESS = "copy (select generate_series(1, 1000000000), repeat('x', 1000)) to stdout";

describe("copyOut", () => {
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

  test("gives each row with its end of line, whatever is in it", async () => {
    const rows: string[] = [];
    const text = `copy (values (1, 'a,"b"'), (2, E'two\\nlines'), (3, null), (4, '')) to stdout (format csv)`;
    expect(await copy(text, async (some) => void rows.push(...some.map(String)))).toBeUndefined();
    expect(rows).toEqual(['1,"a,""b"""\n', '2,"two\nlines"\n', "3,\n", '4,""\n']);
  });

  test("is cancelled where the signal is aborted before the first row comes", async () => {
    const reason = new Error("stop");
    const stop = new AbortController();
    let failure: unknown;
    const copying = sql.begin((tx) =>
      copyOut(tx, "copy (select pg_sleep(600)) to stdout", async () => {}, stop.signal).catch((error) => {
        failure = error;
        throw error;
      }),
    );
    copying.catch(() => {});
    const isAsleep = () => sql`select from pg_stat_activity where wait_event = 'PgSleep'`;
    await expect.poll(isAsleep).toHaveLength(1);
    stop.abort(reason);
    await expect(copying).rejects.toThrow();
    expect(failure).toBe(reason);
    expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }]);
  });

  test("holds few rows while the reader is slow", async () => {
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

  test("ends with the reader's failure, and its connection goes on", async () => {
    const failure = new Error("the disk is full");
    expect(await copy(ENDLESS, () => Promise.reject(failure))).toBe(failure);
  });

  test("ends when it is aborted, and its connection goes on", async () => {
    const stop = new AbortController();
    const reason = new Error("stop it");
    expect(await copy(ENDLESS, async () => stop.abort(reason), stop.signal)).toBe(reason);
  });

  test("ends with what the server says", async () => {
    const failing = "copy (select 1 / (500 - n) from generate_series(1, 1000) as n) to stdout";
    expect(await copy(failing, async () => {})).toMatchObject({ code: "22012" });
  });
});

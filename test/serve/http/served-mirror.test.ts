import { describe, expect, it, onTestFinished, vi } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { ReaderGoneError } from "../../../src/page/cache/single-flight.ts";
import { createServedMirror } from "../../../src/serve/http/served-mirror.ts";
import { countWaits, createTestDatabase } from "../../support/database.ts";
import { openServedMirror } from "../../support/served-pages.ts";
import { later } from "../../support/tally.ts";

/** Port 1 answers on no machine that runs tests. */
const NOBODY = "postgres://nobody@127.0.0.1:1/none";

describe("a served mirror", () => {
  it("follows a database that is gone to where it is found again, and only reads it", async () => {
    await using database = await createTestDatabase();
    const addresses = [NOBODY, database.url];
    const ready = async () => addresses.shift() ?? database.url;
    const mirror = createServedMirror({ ready, log: silentLog });
    onTestFinished(mirror.close);
    await mirror.open();
    const readName = () => mirror.read((sql) => sql`select current_database() as name`);
    await expect(readName()).rejects.toThrow(StoreError);
    const name = new URL(database.url).pathname.slice(1);
    await expect.poll(async () => (await readName())[0]?.name).toBe(name);
    await expect(mirror.read((sql) => sql`create table report.mine (id int)`)).rejects.toThrow("read-only");
    await mirror.close();
  });

  it("cannot write, even where its role owns everything", async () => {
    await using database = await createTestDatabase();
    await using mirror = await openServedMirror(database.url);
    for (const statement of [
      "insert into mirror.users (id, first_seen_at, changed_at, record_hash) values ('1', now(), now(), '')",
      "update mirror.builds set state = 'x'",
      "delete from mirror.files",
      "truncate mirror.build_logs",
      "create table mirror.mine ()",
      "create temporary table mine ()",
      "drop table mirror.builds cascade",
      "create role mine",
      "select nextval(pg_get_serial_sequence('sync.runs', 'id'))",
    ]) {
      const wrote = mirror.read((sql) => sql.unsafe(statement));
      await expect(wrote, statement).rejects.toMatchObject({ sqlstate: "25006" });
    }
  });

  it("does not begin to read for those who have waited too long and are gone", async () => {
    await using database = await createTestDatabase();
    await using mirror = await openServedMirror(database.url);
    const holder = database.sql;
    await holder`select pg_advisory_lock(1)`;
    const sleepers = Array.from({ length: 8 }, () =>
      mirror.snapshot((tx) => tx`select pg_advisory_xact_lock_shared(1)`.then(() => "read")),
    );
    await expect.poll(() => countWaits(holder)).toBe(8);
    const begin = vi.fn(async () => {});
    const waiting = Array.from({ length: 20 }, () => mirror.snapshot(begin));
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + 16_000);
    onTestFinished(() => void vi.restoreAllMocks());
    await holder`select pg_advisory_unlock(1)`;
    expect((await Promise.allSettled(waiting)).every(({ status }) => status === "rejected")).toBe(true);
    expect(begin).not.toHaveBeenCalled();
    expect(await Promise.all(sleepers)).toEqual(Array(8).fill("read"));
    expect(await mirror.snapshot(async () => "read")).toBe("read");
  });

  it("tells at once that a database is not there yet, and by open() what waiting cannot repair", async () => {
    const ready = later<string>();
    const mirror = createServedMirror({ ready: () => ready.promise, log: silentLog });
    const opened = mirror.open();
    await expect(mirror.read(async () => 1)).rejects.toThrow("the database does not answer yet");
    ready.reject(new StoreError("no such role"));
    await expect(opened).rejects.toThrow("no such role");
    await mirror.close();
  });

  it("lets those who ask while the process starts wait for the database", async () => {
    await using database = await createTestDatabase();
    const ready = later<string>();
    const mirror = createServedMirror({ ready: () => ready.promise, log: silentLog, startMs: 600_000 });
    onTestFinished(mirror.close);
    const early = mirror.read((sql) => sql`select 1 as one`);
    ready.resolve(database.url);
    expect(await early).toEqual([{ one: 1 }]);
  });

  it("says of a read that its end broke off that nobody waits for it, not that the database is away", async () => {
    await using database = await createTestDatabase();
    const mirror = await openServedMirror(database.url);
    const cut = mirror.read((sql) => sql`select pg_sleep(600)`);
    const ends = expect(cut).rejects.toThrow(ReaderGoneError);
    await mirror.close();
    await ends;
    await expect(mirror.read(async () => 1)).rejects.toThrow(ReaderGoneError);
  });

  it("ends a wait with its own end", async () => {
    const ready = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const mirror = createServedMirror({ ready, log: silentLog });
    const opened = mirror.open();
    await Promise.all([expect(opened).rejects.toThrow(), mirror.close()]);
  });
});

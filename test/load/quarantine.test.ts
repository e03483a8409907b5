import { describe, expect, test } from "vitest";
import { setUpLoading } from "../support/loading.ts";
import { wireUser } from "../support/wire-records.ts";

describe("quarantine", () => {
  test("keeps the same record once, however many nights show it", async () => {
    await using loading = await setUpLoading();
    const nameless = { username: "nobody", first_name: "No", last_name: "Body" };
    for (let night = 1; night <= 3; night++) {
      expect(await loading.load("user", [nameless])).toMatchObject({ quarantined: 1 });
      loading.nextRun();
    }
    expect(await loading.sql`select payload, resolved_at from sync.quarantine`).toEqual([
      { payload: nameless, resolved_at: null },
    ]);
  });

  test("keeps another payload of the same record beside the first", async () => {
    await using loading = await setUpLoading();
    await loading.load("user", [
      { ...wireUser("1"), id: "" },
      { ...wireUser("2"), id: "" },
    ]);
    expect(await loading.sql`select 1 from sync.quarantine`).toHaveLength(2);
  });
});

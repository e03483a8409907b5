import { describe, expect, it } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { createReadFigures } from "../../../src/report/status/find-figures.ts";
import { createKeptLog } from "../../support/quick-world.ts";

const OPTIONS = { stuckAfterMs: 0, sourceTimezone: "Etc/UTC", isWorker: false };
const AWAY = { isUp: false, figures: null };

/** Reads figures of a database that fails with these errors, one after another. */
function setup(...errors: Error[]) {
  const { log, messages } = createKeptLog();
  const read = () => Promise.reject(errors.shift() ?? new Error("no more"));
  return { readFigures: createReadFigures({ read, options: OPTIONS, log }), messages };
}

describe("the figures", () => {
  it("are absent while the database is away, which is logged once", async () => {
    const down = new StoreError("no connection", { sqlstate: "08006" });
    const { readFigures, messages } = setup(down, down, new StoreError("too slow"));
    for (let times = 0; times < 3; times++) expect(await readFigures()).toEqual(AWAY);
    expect(messages()).toEqual(Array(2).fill("could not read the figures for the metrics"));
  });

  it("are absent where the role may not read them, although the database is there", async () => {
    const { readFigures } = setup(
      new StoreError("permission denied for table notices", { sqlstate: "42501" }),
    );
    expect(await readFigures()).toEqual({ isUp: true, figures: null });
  });
});

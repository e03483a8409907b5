import { expect, test } from "vitest";
import { QUIET } from "../../../src/simulate/settings.ts";
import { runCli } from "../../support/cli.ts";
import { countDatabase } from "../../support/counted-database.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createWorld, startSimulation } from "../../support/simulation.ts";

const STILL = {
  users: 10,
  projects: 10,
  versions: 20,
  files: 10,
  rates: QUIET,
  stuckShare: 0,
  clockSteps: false,
};

const NAME = "a sync that %s, and finds nothing new, asks the database little";
test.each([["reads the head of the builds", 150]])(NAME, asksLittle);
test.each([["reads all lists whole", 10]])(NAME, { tags: ["long"] }, asksLittle);

async function asksLittle(_what: string, builds: number): Promise<void> {
  const world = createWorld({ ...STILL, builds, startAt: new Date(Date.now() - 3_600_000) });
  const service = await startSimulation({ world });
  const database = await createTestDatabase();
  await using counted = await countDatabase(database.url);
  const env = {
    DATABASE_URL: counted.url,
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_RATE: "0",
    DOCMIRROR_VERIFY_SAMPLE: "0",
  };
  for (const kind of ["full", "full", "incremental"]) {
    counted.take();
    expect(await runCli(`sync --${kind}`, { env })).toMatchObject({ code: 0 });
  }
  const { sessions, transactions, statements } = counted.take();
  expect(sessions).toBeLessThanOrEqual(4);
  expect(transactions).toBeLessThanOrEqual(40);
  expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(70);
  await service.close();
  await database.dispose();
}

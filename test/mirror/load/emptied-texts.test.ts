import { describe, expect } from "vitest";
import { reclassify } from "../../../src/report/refresh/reclassify.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { readRecords } from "../../../src/serve/catalog/mirror-catalog.ts";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { wireBuild, wireProject } from "../../support/wire-records.ts";

const failed = (over: Record<string, unknown> = {}) =>
  wireBuild("1", {
    state: "finished",
    success: false,
    date: "2024-05-15T11:00:00",
    output: "cloning",
    error: "fatal: could not read from remote",
    setup: "",
    setup_error: null,
    ...over,
  });
const EMPTY = { output: "", error: "", setup: "", setup_error: "" };
const NULL = { output: null, error: null, setup: null, setup_error: null };

async function show(loading: Loading, over: Record<string, unknown>) {
  const counts = await loading.load("build", [failed(over)]);
  const [log] = await loading.sql`select output, error from mirror.build_logs where build_id = '1'`;
  const [served] = await readRecords(loading.sql, "build", ["1"]);
  return { emptied: counts.emptied, log, served };
}

describe("a log that became empty", () => {
  test.for([
    ["as an empty text", EMPTY],
    ["as null", NULL],
    ["in a part", { error: "" }],
  ] as const)("%s keeps its texts here, and is served as the service shows it", async ([_, over], {
    loading,
  }) => {
    const before = await show(loading, {});
    const { emptied, log, served } = await show(loading, over);
    expect([emptied, log]).toEqual([1, before.log]);
    expect(served).toEqual(failed(over));
    const again = await show(loading, { ...over, type: "pdf" });
    expect([again.emptied, again.log, again.served]).toEqual([
      0,
      before.log,
      failed({ ...over, type: "pdf" }),
    ]);
    expect(await show(loading, { type: "pdf" })).toEqual({
      emptied: 0,
      log: before.log,
      served: failed({ type: "pdf" }),
    });
  });

  test("keeps the line and the class of its failure, also when all reports are computed anew", async ({
    loading,
  }) => {
    const refresh = () => refreshReport(loading.sql, REPORT_SETTINGS);
    const failure = () =>
      loading.sql`select error_line, error_class, error_fingerprint from report.fact_builds where build_id = '1'`;
    await loading.load("project", [wireProject("1")]);
    await show(loading, {});
    await refresh();
    const before = [...(await failure())];
    expect(before).toMatchObject([{ error_class: "vcs" }]);
    await show(loading, EMPTY);
    await refresh();
    expect(await failure()).toEqual(before);
    await reclassify({ sql: loading.sql, isDry: false, ...REPORT_SETTINGS });
    await loading.sql`update rollup.state set definition = ''`;
    expect(await refresh()).toMatchObject({ isFull: true });
    expect(await failure()).toEqual(before);
  });

  test.for([
    ["ended otherwise", { ...EMPTY, success: true }],
    ["is in another state", { ...EMPTY, state: "triggered" }],
    ["has another date", { ...EMPTY, date: "2024-05-16T11:00:00" }],
    ["has a new text too", { ...EMPTY, output: "made again" }],
  ] as const)("is that of a build which was made again where it %s", async ([_, over], { loading }) => {
    await show(loading, {});
    const { emptied, log, served } = await show(loading, over);
    expect([emptied, log?.error, served]).toEqual([0, "", failed(over)]);
  });

  test("stays in its archive with the line of its failure", async ({ loading }) => {
    await show(loading, {});
    await loading.sql.unsafe(`
      insert into mirror.log_files (sha256, folder, path) values ('\\x00', 'f', 'p');
      insert into mirror.archived_logs (build_id, file_id, hash, error_line, removed_at) values ('1', 1, '\\x00', 'fatal', now());
      delete from mirror.build_logs where build_id = '1'`);
    await show(loading, { ...EMPTY, type: "pdf" });
    expect(await loading.sql`select error_line from mirror.archived_logs`).toEqual([{ error_line: "fatal" }]);
    expect(await loading.sql`select after from mirror.changes`).toEqual([{ after: { type: "pdf" } }]);
    await show(loading, { output: "back" });
    expect(await loading.sql`select from mirror.archived_logs`).toHaveLength(0);
  });
});

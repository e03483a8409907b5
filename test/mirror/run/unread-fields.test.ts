import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readRecords } from "../../../src/serve/catalog/mirror-catalog.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { editPages, editReplies, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

type Change = (build: Record<string, unknown>, place: number) => void;

let quick: QuickWorld;
let change: Change = () => {};

/** The field is a number of seconds in each build. */
const inSeconds: Change = (build) => {
  build.date = Date.parse(`${build.date}Z`) / 1000;
};

beforeAll(async () => {
  quick = await startQuickWorld(
    { users: 3, projects: 3, versions: 4, files: 3, builds: 50, rates: QUIET, stuckShare: 0 },
    editPages("build", (builds) => {
      for (const [place, build] of builds.entries())
        change(Object.assign(build, { era: { name: "new" } }), place);
    }),
  );
  await night(() => {});
});
afterAll(() => quick[Symbol.asyncDispose]());

async function night(as: Change, kind: "full" | "incremental" = "full") {
  change = as;
  quick.world.advance(86_400_000);
  const { summary } = await quick.sync({ kind, resources: ["build"] });
  const rows = await quick.sql<{ id: string }[]>`
    select id, date::text, success, project_id, project_uri, state from mirror.builds order by id`;
  return { status: summary.status, warnings: summary.warnings ?? [], rows: [...rows] };
}

describe("a field that was read in each record, and now in none", () => {
  test("costs each night its success, keeps what is stored, and is named with an example", async () => {
    const before = await night(() => {});
    expect(before).toMatchObject({ status: "succeeded", warnings: [] });
    for (let count = 1; count <= 2; count++) {
      const { status, warnings, rows } = await night(inSeconds);
      expect(status).toBe("partial");
      expect(warnings).toEqual([
        expect.stringMatching(/^the field date of builds .* such as \d{10}[\d.]*: /),
      ]);
      expect(rows).toEqual(before.rows);
    }
    const [served] = await readRecords(quick.sql, "build", [before.rows[0]?.id ?? ""]);
    expect(served?.date).toEqual(expect.any(Number));
    expect(await night(() => {})).toEqual(before);
  });

  test("is met in the head of the list too, and a reference keeps its record", {
    tags: ["long"],
  }, async () => {
    const before = await night(() => {});
    const embedded: Change = (build) => {
      build.project = { slug: "a", of: build.project };
    };
    const { status, warnings, rows } = await night(embedded, "incremental");
    expect(status).toBe("partial");
    expect(warnings).toEqual([expect.stringMatching(/^the field project of builds /)]);
    expect(rows).toEqual(before.rows);
    await night(() => {});
  });
});

test("a field that cannot be read in some records keeps their values and costs nothing", async () => {
  const before = await night(() => {});
  const odd: Change = (build, place) => {
    if (place % 2 === 0) build.success = "yes";
  };
  expect(await night(odd)).toEqual(before);
  await night(() => {});
});

test.for([7, "7"])("builds that name their project by %j are named in a warning", {
  tags: ["long"],
}, async (project) => {
  await using other = await startQuickWorld({ projects: 3, builds: 20 }, async (_, next) => {
    const reply = await next();
    if (reply.status !== 200) return reply;
    const text = (await reply.text()).replaceAll(
      /"project":"[^"]*"/g,
      `"project":${JSON.stringify(project)}`,
    );
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
  const { summary } = await other.sync({ kind: "full" });
  expect(summary.status).toBe("succeeded");
  expect(summary.warnings).toEqual([expect.stringContaining("the field project of builds names no project")]);
});

test("a field that never could be read costs nothing", { tags: ["long"] }, async () => {
  await using other = await startQuickWorld(
    { users: 3, projects: 3, versions: 4, files: 3, builds: 20 },
    editReplies((text) => text.replaceAll(/"pub_date":"[^"]*"/g, `"pub_date":1369032004`)),
  );
  for (let count = 1; count <= 2; count++) {
    const { summary } = await other.sync({ kind: "full" });
    expect(summary.status).toBe("succeeded");
    expect(summary.warnings ?? []).toEqual([]);
  }
});

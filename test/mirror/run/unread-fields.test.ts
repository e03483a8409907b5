import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Resource } from "../../../src/resources/resources.ts";
import { readRecords } from "../../../src/serve/catalog/mirror-catalog.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { editPages, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

type Change = (build: Record<string, unknown>, place: number) => void;

let quick: QuickWorld;
let change: Change = () => {};

/** The field is a text in each build that is no date. */
const inWords: Change = (build) => {
  build.date = `at ${build.date}`;
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
      const { status, warnings, rows } = await night(inWords);
      expect(status).toBe("partial");
      expect(warnings).toEqual([
        expect.stringMatching(/^the field date of builds was readable, .* such as "at 2/),
      ]);
      expect(rows).toEqual(before.rows);
    }
    const [served] = await readRecords(quick.sql, "build", [before.rows[0]?.id ?? ""]);
    expect(served?.date).toMatch(/^at /);
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

test.for([
  [7, "partial", "the field project of builds could be read in none of the records, and has a value in"],
  ["7", "succeeded", "the field project of builds names no project"],
] as const)("builds that name their project by %j end a run as %s", {
  tags: ["long"],
}, async ([project, status, warning]) => {
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
  expect(summary.status).toBe(status);
  expect(summary.warnings).toEqual([expect.stringContaining(warning)]);
});

describe("a field that never could be read", () => {
  const sizes = { users: 8, projects: 6, versions: 8, files: 6, builds: 20 };
  const ODD: [field: string, resource: string, value: unknown][] = [
    ["date", "build", "yesterday"],
    ["success", "build", "yes"],
    ["state", "build", 3],
    ["output", "build", ["make", "html"]],
    ["path", "file", ["a", "b"]],
    ["project", "file", 7],
    ["last_login", "user", 0],
  ];
  const NAME = "costs each night its success, and is named: %s of %ss as %j";
  test.each(ODD.slice(0, 1))(NAME, isNamed);
  test.each(ODD.slice(1))(NAME, { tags: ["long"] }, isNamed);

  async function isNamed(field: string, resource: string, value: unknown) {
    let isOdd = true;
    await using other = await startQuickWorld(
      sizes,
      editPages(resource as Resource, (records) => {
        if (isOdd) for (const record of records) record[field] = value;
      }),
    );
    for (let count = 1; count <= 3; count++) {
      const { summary } = await other.sync({ kind: "full" });
      expect(summary.status).toBe("partial");
      expect(summary.warnings).toEqual([
        expect.stringMatching(
          new RegExp(`^the field ${field} of ${resource}s could be read in none of the records`),
        ),
      ]);
    }
    isOdd = false;
    other.world.advance(86_400_000);
    const { summary } = await other.sync({ kind: "full" });
    expect([summary.status, summary.warnings ?? []]).toEqual(["succeeded", []]);
  }

  test("costs nothing where few records have it", async () => {
    await using other = await startQuickWorld(
      { ...sizes, users: 4 },
      editPages("user", (users) => {
        for (const user of users) user.last_login = 0;
      }),
    );
    for (let count = 1; count <= 2; count++) {
      const { summary } = await other.sync({ kind: "full" });
      expect([summary.status, summary.warnings ?? []]).toEqual(["succeeded", []]);
    }
  });
});

test("booleans as 1 and 0 and dates as times since 1970 are read, and served as they were sent", async () => {
  const sent = new Map<string, Record<string, unknown>>();
  const told = new Map<string, unknown[]>();
  await using other = await startQuickWorld(
    { users: 3, projects: 3, versions: 4, files: 3, builds: 50, rates: QUIET, stuckShare: 0 },
    editPages("build", (builds) => {
      for (const [place, build] of builds.entries()) {
        told.set(String(build.id), [build.success, build.date]);
        const seconds = Date.parse(`${build.date}Z`) / 1000;
        build.date = [seconds, seconds * 1000, String(seconds)][place % 3];
        build.success = [
          Number(build.success),
          String(Number(build.success)),
          build.success ? "True" : "False",
        ][place % 3];
        sent.set(String(build.id), { ...build });
      }
    }),
  );
  const { summary } = await other.sync({ kind: "full" });
  expect([summary.status, summary.warnings ?? []]).toEqual(["succeeded", []]);
  const rows = await other.sql<{ id: string; success: boolean; ms: number }[]>`
    select id, success, (extract(epoch from date) * 1000)::float8 as ms from mirror.builds`;
  expect(rows).toHaveLength(50);
  for (const { id, success, ms } of rows)
    expect([success, ms]).toEqual([told.get(id)?.[0], Date.parse(`${told.get(id)?.[1]}Z`)]);
  const [id = ""] = sent.keys();
  expect(await readRecords(other.sql, "build", [id])).toEqual([sent.get(id)]);
  expect(await other.sql`select from sync.drift where field in ('success', 'date')`).toHaveLength(0);
});

test("a run in which the service emptied many logs says so, succeeds, and keeps the texts", {
  tags: ["long"],
}, async () => {
  let isCold = false;
  await using other = await startQuickWorld(
    { users: 3, projects: 3, versions: 4, files: 3, builds: 50, rates: QUIET, stuckShare: 0 },
    editPages("build", (builds) => {
      if (isCold) for (const build of builds) Object.assign(build, { output: "", error: "", setup: null });
    }),
  );
  const texts = () => other.sql`select * from mirror.build_logs order by build_id`;
  await other.sync({ kind: "full" });
  const before = [...(await texts())];
  isCold = true;
  for (const warnings of [[expect.stringMatching(/^the service has emptied logs of \d\d builds/)], []]) {
    other.world.advance(86_400_000);
    const { summary } = await other.sync({ kind: "full" });
    expect([summary.status, summary.warnings ?? []]).toEqual(["succeeded", warnings]);
    expect(await texts()).toEqual(before);
  }
});

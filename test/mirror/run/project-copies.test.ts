import { expect, test } from "vitest";
import { QUIET } from "../../../src/simulate/settings.ts";
import { startQuickWorld } from "../../support/quick-world.ts";

type Project = Record<string, unknown>;
interface Page {
  objects: (Project & { project?: Project })[];
}

test("a project whose date the service put back is as it was shown last, in its list or in a version", async () => {
  let isAhead = true;
  let isCached = false;
  const early = { name: "Early", modified_date: "2031-01-01T00:00:00" };
  const late = { name: "Late", modified_date: "2030-01-01T00:00:00" };
  await using quick = await startQuickWorld(
    { users: 3, projects: 4, versions: 12, files: 6, builds: 10, rates: QUIET, hiddenShare: 0 },
    async (request, next) => {
      const reply = await next();
      const { pathname } = new URL(request.url);
      if (!/\/(project|version|file)\/(\d+\/)?$/.test(pathname)) return reply;
      if (/\d\/$/.test(pathname)) return Response.json({ ...((await reply.json()) as Project), ...late });
      const page = (await reply.json()) as Page;
      const isOld = isCached && pathname.endsWith("/version/");
      // In the first night the versions are read while the clock is ahead, and the list of projects after that.
      for (const record of page.objects) {
        if (record.project) Object.assign(record.project, isAhead || isOld ? early : late);
        else if (pathname.endsWith("/project/")) Object.assign(record, late);
      }
      return Response.json(page, isOld ? { headers: { age: "3600" } } : {});
    },
  );
  const names = async () =>
    (await quick.sql`select distinct name from mirror.projects`).map(({ name }) => name);
  await quick.sync({ kind: "full" });
  isAhead = false;
  for (let night = 2; night <= 3; night++) {
    quick.world.advance(86_400_000);
    expect((await quick.sync({ kind: "full" })).summary.status).toBe("succeeded");
    expect(await names()).toEqual(["Late"]);
  }
  // Old versions from a cache come before the list, whose pages are skipped because they say again what they said.
  isCached = true;
  for (const night of ["fourth", "fifth"]) {
    quick.world.advance(86_400_000);
    expect((await quick.sync({ kind: "full" })).summary.status, night).toBe("succeeded");
    expect(await names(), night).toEqual(["Late"]);
  }
});

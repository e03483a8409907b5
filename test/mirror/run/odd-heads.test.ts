/** Heads of the list of builds that look as if nothing were new, in services as they are. */
import { describe, expect, test } from "vitest";
import type { BuildRecord } from "../../../src/resources/resources.ts";
import { type ArrangedWorld, startArranged } from "../../support/arranged-builds.ts";
import { wireBuild } from "../../support/wire-records.ts";

const DAY_MS = 86_400_000;
const settings = { pageSize: 20, fullEveryDays: 30, maxDeleteRatio: 0.05 };

type Order = (builds: readonly BuildRecord[], arranged: ArrangedWorld["arranged"]) => readonly BuildRecord[];

/** A mirror of 100 builds that come in this order. */
async function startOrdered(order: Order) {
  const quick = await startArranged({ users: 2, projects: 4, versions: 4, files: 2, builds: 100 });
  const { arranged } = quick;
  arranged.arrange = (builds) => order(builds, arranged);
  const night = async (options: Parameters<ArrangedWorld["sync"]>[0] = {}) => {
    quick.world.advance(DAY_MS);
    return (await quick.sync({ settings, ...options })).summary;
  };
  const first = await night();
  /** Builds come, and others go at place 60. */
  const change = (went: number, came: number) => {
    quick.world.triggerBuilds(came);
    arranged.arrange = (builds) => {
      const gone = builds.slice(60, 60 + went);
      for (const { id } of gone) arranged.details.set(id, new Response("", { status: 404 }));
      return order(builds.toSpliced(60, went), arranged);
    };
  };
  return Object.assign(quick, { night, first, change });
}

const ahead = Array.from({ length: 30 }, (_, at) =>
  wireBuild(String(900_030 - at), { project: null, version: null, date: "9999-12-31T23:59:59" }),
) as unknown as BuildRecord[];

describe("the head of the builds", () => {
  test("with thirty builds of the year 9999 on top shows a new one, though as many went", {
    tags: ["long"],
  }, async () => {
    await using quick = await startOrdered((builds) => [...ahead, ...builds]);
    quick.change(1, 1);
    const { summary } = await quick.watch({ settings });
    expect(summary).toMatchObject({ status: "succeeded", resources: { build: { inserted: 1 } } });
  });

  test("with the oldest first is not believed: a round says so, and the next sync reads the list in full", async () => {
    await using quick = await startOrdered((builds) => builds);
    quick.arranged.arrange = (builds) => builds.toReversed();
    const { summary } = await quick.watch({ settings });
    const reason = expect.stringContaining("its builds come with the oldest first");
    expect(summary).toMatchObject({ status: "partial", resources: { build: { walk: "not_whole", reason } } });
    quick.world.triggerBuilds(1);
    const resources = { build: { walk: "whole", inserted: 1 } };
    expect(await quick.night()).toMatchObject({ kind: "incremental", status: "succeeded", resources });
  });

  test("of a mirror with deletions that are held back says so each night, until they are allowed", {
    tags: ["long"],
  }, async () => {
    await using quick = await startOrdered((builds) => builds);
    quick.change(25, 1);
    const held = {
      status: "partial",
      resources: {
        build: { deleted: 0, reason: expect.stringMatching(/^25 builds have .*DOCMIRROR_MAX_DELETE_RATIO/) },
      },
    };
    expect(await quick.night({ kind: "full" })).toMatchObject(held);
    expect(await quick.night()).toMatchObject({ kind: "incremental", ...held });
    const allowed = await quick.night({ kind: "full", allowMassDelete: true });
    expect(allowed).toMatchObject({ status: "succeeded", resources: { build: { deleted: 25 } } });
    expect(await quick.night()).toMatchObject({ kind: "incremental", status: "succeeded" });
  });

  test("of a list that had a hole from the first night on is joined by a round", {
    tags: ["long"],
  }, async () => {
    await using quick = await startOrdered((builds, arranged) => {
      arranged.bad = builds.at(-30)?.id ?? null;
      return builds;
    });
    expect(quick.first).toMatchObject({ status: "partial", resources: { build: { walk: "not_whole" } } });
    quick.world.triggerBuilds(1);
    const { summary } = await quick.watch({ settings });
    expect(summary.resources.build).toMatchObject({ walk: "head", inserted: 1 });
  });
});

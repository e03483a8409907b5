import { describe, expect, it } from "vitest";
import { createCourse } from "../../../src/mirror/walk/course.ts";
import {
  MOVES,
  type Move,
  type MoveMade,
  moveOn,
  type StateName,
  type WalkEvent,
} from "../../../src/mirror/walk/moves.ts";
import { VERDICTS } from "../../../src/mirror/walk/verdicts.ts";
import { requestText } from "../../../src/resources/page-request.ts";
import { expectDrawn } from "../../support/drawn-part.ts";
import { createRandom } from "../../support/model-list.ts";

const STATES: readonly StateName[] = ["starting", "reading", "stepping back", "guessing", "ended"];
const LIST = "/api/v1/build/";
const PAGE = 6;

interface Made {
  on: WalkEvent;
  from: StateName;
  to: StateName;
  /** The move that the table gives. */
  move: MoveMade;
}

/** Walks a list that changes between its pages, some of which cannot be rendered, and rests at times. Returns the moves. */
function walkAtRandom(seed: number): Made[] {
  const random = createRandom(seed);
  const below = (end: number) => Math.floor(random() * end);
  const course = createCourse({
    resource: "build",
    listPath: LIST,
    pageSize: PAGE,
    isListPath: (path) => path === LIST,
  });
  let next = 100 + below(60);
  let ids = Array.from({ length: next - 100 }, (_, at) => String(next - 1 - at));
  const bad = random() < 0.1 ? 1 : 0.15;
  let adjacentHoles = 0;
  const made: Made[] = [];
  const note = (on: WalkEvent, from: StateName, failed: Parameters<typeof moveOn>[2]) =>
    made.push({ on, from, to: course.state, move: moveOn(on, from, failed) });
  for (let steps = 0; steps < 200 && course.request; steps++) {
    if (random() < 0.3) ids = [String(next++), ...ids];
    if (random() < 0.3) ids = ids.toSpliced(below(ids.length + 1), 1 + below(4));
    const { request, state, isEnlarged } = course;
    const failed = { limit: request.limit, isEnlarged, adjacentHoles };
    const chance = random();
    if (chance < bad) {
      if (moveOn("not_rendered", state, failed).does === "leaves a hole") adjacentHoles += 1;
      const isLeft = course.narrow();
      note("not_rendered", state, failed);
      if (!isLeft) break;
    } else if (chance < bad + 0.05 && request.offset > 0) {
      course.rest(below(60) - 20);
      note("rested", state, failed);
    } else {
      const end = request.offset + request.limit;
      const shown = ids.slice(request.offset, end);
      const link = end < ids.length ? `${LIST}?limit=${request.limit}&offset=${end}` : null;
      adjacentHoles = 0;
      course.read({
        ids: shown,
        meta: {
          limit: request.limit,
          offset: request.offset,
          next: link,
          totalCount: ids.length,
          count: shown.length,
          showsOrder: seed % 2 === 0,
        },
      });
      const verdict = VERDICTS.find(({ name }) => name === course.verdict);
      if (verdict) note(verdict.outcome, state, failed);
    }
  }
  return made;
}

const all = Array.from({ length: 600 }, (_, seed) => walkAtRandom(seed)).flat();

describe("a walk", () => {
  it.each(
    STATES.filter((state) => state !== "ended"),
  )("that is %s makes the moves of the table, and no other", (state) => {
    const moves = all.filter(({ from }) => from === state);
    expect(moves.length).toBeGreaterThan(50);
    for (const { from, to, move } of moves)
      expect([move.to === "the same" ? from : move.to, "starting"]).toContain(to);
  });

  it.each(MOVES.map((move) => [move.does, move.to, move] as const))("%s, and is then %s", (_, to, move) => {
    const ends = all.filter((one) => one.move === move);
    expect(ends.some((one) => one.to === (to === "the same" ? one.from : to))).toBe(true);
  });

  it("that is ended makes no move", () => {
    const failed = { limit: 1, isEnlarged: false, adjacentHoles: 0 };
    expect(() => moveOn("go_on", "ended", failed)).toThrow("a walk that is ended has no move on go_on");
  });

  it("starts at the start of its list, and has no request when it is ended", () => {
    const course = createCourse({
      resource: "build",
      listPath: LIST,
      pageSize: PAGE,
      isListPath: () => true,
    });
    expect(course.state).toBe("starting");
    expect(course.request && requestText(course.request)).toBe(`${LIST}?format=json&limit=${PAGE}`);
    const meta = { limit: PAGE, offset: 0, next: null, totalCount: 0, count: 0, showsOrder: true };
    course.read({ ids: [], meta });
    expect([course.state, course.request]).toEqual(["ended", null]);
    expect(() => course.narrow()).toThrow("the walk is at its end");
  });
});

/** UPDATE_DOCS=1 npx vitest run test/mirror/walk/moves.test.ts writes them. */
it("docs/internals/reliability.md shows the moves", () => {
  const head = "| on | in | the walk | and is then |\n| --- | --- | --- | --- |\n";
  expectDrawn("internals/reliability.md", "moves", head + MOVES.map(renderMove).join(""));
});

function renderMove({ on, from, when, does, to }: Move): string {
  const event = on.map((one) => one.replace("_", " ")).join(", ");
  return `| ${event}${when ? `: ${when}` : ""} | ${from?.join(", ") ?? "any"} | ${does} | ${to} |\n`;
}

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MUTATIONS } from "../../lab/known-mutations.ts";

const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);

test.each(MUTATIONS)("the mutation of $name still fits its file, and its tests are there", ({
  file,
  from,
  tests,
}) => {
  expect(readFileSync(fromRoot(file), "utf8").split(from)).toHaveLength(2);
  expect(tests.filter((path) => !existsSync(fromRoot(path)))).toEqual([]);
});

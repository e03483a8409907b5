import { availableParallelism } from "node:os";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { scratchFolder } from "./test/support/scratch-folder.ts";

// Before any process of the tests starts: all of them make their folders there.
const scratch = process.env.TMPDIR ?? scratchFolder();
if (scratch) process.env.TMPDIR = scratch;
// Where `docmirror` on the path is this program, messages name it so.
process.env.PATH = `${fileURLToPath(new URL("test/support/path", import.meta.url))}${delimiter}${process.env.PATH}`;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // An eighth of the time of two cores is idle with two workers, because tests wait for processes and for Postgres.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // None of these says that something is fast: a busy machine must not fail a test.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // No test replaces a module. A new process for each file would load the same modules 190 times.
    isolate: false,
    sequence: { shuffle: true, sequencer: LongestFirst },
    // `npm test` leaves both out; `npm run test:long` runs just them.
    tags: [
      {
        name: "long",
        description: "Takes over 0.3 s of the processor and is not the first of its `describe`.",
        timeout: 600_000,
      },
      {
        name: "exhaustive",
        description:
          "Beside `long`: more cases of what another test shows, or the same by one more engine or by real processes. Not in `.ci/run`.",
      },
    ],
  },
});

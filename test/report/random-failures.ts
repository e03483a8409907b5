/** What random builds fail of, and the texts that say so. */
import type { Random } from "../../src/simulate/random.ts";
import type { InsertedRow } from "./insert-rows.ts";
import type { ErrorRule } from "./model/facts.ts";

/** Each is one kind of failure: whatever the numbers, paths and hashes in its line, the fingerprint is one. */
const FAILURES: readonly (readonly [mark: string, say: (random: Random) => string])[] = [
  [
    "sphinx==",
    (random) => `ERROR: No matching distribution found for sphinx==${random.int(9)}.${random.int(20)}.0`,
  ],
  [
    "not a git",
    (random) => `/srv/checkouts/${hex(random, 6)}x/conf.py:${random.int(500)}: fatal: not a git repository`,
  ],
  ["Traceback", (random) => `Traceback ${random.int(90)} of https://pypi.example/simple/${hex(random, 9)}`],
  ["Killed", () => "Killed"],
  ["Errno", (random) => `OSError: [Errno 28] No space left on device: '/tmp/${hex(random, 12)}'`],
  ["not a tree", (random) => `fatal: reference is not a tree: ${hex(random, 40)}`],
  [
    "stood still",
    (random) => `2024-1${random.int(3)}-0${1 + random.int(9)} 1${random.int(10)}:00:00 the build stood still`,
  ],
  ["Ünïcode", () => "Ünïcode ends this 🙂 build"],
];

export const RULES: readonly ErrorRule[] = [
  { position: 1, pattern: "killed|space left", class: "resources", is_platform: true },
  { position: 2, pattern: "^fatal:", class: "vcs", is_platform: false },
  { position: 3, pattern: "matching +distribution", class: "dependency", is_platform: false },
  { position: 4, pattern: "fatal:", class: "never_first", is_platform: false },
];

const BODIES = ["output", "error", "setup", "setup_error"] as const;

/** The texts of a build's log: one of them may say why it failed, another one something else, and the rest is null. */
export function randomTexts(random: Random, failed: boolean): InsertedRow {
  const [, say] = FAILURES[random.int(FAILURES.length)] ?? [];
  const said = (failed ? say?.(random) : null) ?? "ERROR: of no account";
  const long = random.chance(0.02) ? "x".repeat(random.int(8000)) : "";
  const line = random.chance(0.2) ? `\u001b[1;31m${said}\u001b[0m` : said;
  const texts = new Map<number, string>([
    [random.int(BODIES.length), random.chance(0.5) ? "" : "a line that is no reason\n"],
    [random.int(BODIES.length + 1), `reading sources\n\n${long}\n${line}\n  \t\r\n`],
  ]);
  return Object.fromEntries(BODIES.map((body, index) => [body, texts.get(index) ?? null]));
}

export function hex(random: Random, digits: number): string {
  return `a${Array.from({ length: digits - 1 }, () => random.int(16).toString(16)).join("")}`;
}

// node .ci/tell.js NAME RECORD EXIT_CODE COUNTS FAILURES: tells what `reporter.js` recorded of one run of the tests.
// Prints the ten slowest files, adds "PASSED FAILED" to the file COUNTS, and what failed to the file FAILURES.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const [name, record, exitCode, counts, failures] = process.argv.slice(2);
const lines = existsSync(record) ? readFileSync(record, "utf8").split("\n").slice(0, -1) : [];
const events = lines.map((line) => JSON.parse(line));
const of = (event) => events.filter((line) => line.event === event);
const print = (text) => process.stdout.write(`${text}\n`);
const tell = (text) => appendFileSync(failures, `${name}: ${text}\n`);
const begin = (text) => stripVTControlCharacters(text).split("\n").slice(0, 20).join("\n    ");

const tests = of("test");
const files = of("file");
const failed = tests.filter(({ state }) => state === "failed");
for (const { file, name, errors } of failed)
  tell(`${file}: ${name}\n    ${begin(errors[0] ?? "no message")}`);
const broken = files.filter(({ errors }) => errors.length > 0);
for (const { file, errors } of broken) tell(`${file}\n    ${begin(errors[0])}`);
for (const { text } of of("error")) tell(`beside the tests\n    ${begin(text)}`);

let failedCount = failed.length + broken.length + of("error").length;
if (of("done").length === 0) {
  const ended = new Set(tests.map(({ id }) => id));
  const endedFiles = new Set(files.map(({ file }) => file));
  const begun = new Set(of("began").map(({ file }) => file));
  const waiting = of("queued").filter(({ file }) => !begun.has(file) && !endedFiles.has(file));
  tell(`cut with exit code ${exitCode}; ${files.length} files had ended, ${waiting.length} had not begun`);
  for (const file of begun) if (!endedFiles.has(file)) tell(`under way: ${file}`);
  for (const { id, file, name } of of("test began")) if (!ended.has(id)) tell(`under way: ${file}: ${name}`);
  failedCount += 1;
} else if (exitCode !== "0" && failedCount === 0) {
  tell(`failed with exit code ${exitCode}, without a failed test`);
  failedCount = 1;
}

const passedCount = tests.filter(({ state }) => state === "passed").length;
appendFileSync(counts, `${passedCount} ${failedCount}\n`);
print("the slowest files:");
for (const { ms, file } of files.toSorted((a, b) => b.ms - a.ms).slice(0, 10))
  print(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
print(`${name}: ${passedCount} passed, ${failedCount} failed`);

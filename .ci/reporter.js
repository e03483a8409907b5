import { appendFileSync } from "node:fs";
import { relative } from "node:path";

// A reporter of vitest that writes one line for each thing that happens, when it happens, to the file that CI_RECORD
// names. So a run that is cut has left what it did so far; `tell.js` reads it.

const write = (line) => appendFileSync(process.env.CI_RECORD, `${JSON.stringify(line)}\n`);
const fileOf = (test) => relative("", test.moduleId);
const nameOf = (test) => ({ file: fileOf(test.module), name: test.fullName, id: test.id });

export default class {
  onTestRunStart(specifications) {
    for (const specification of specifications) write({ event: "queued", file: fileOf(specification) });
  }

  onTestModuleStart(module) {
    write({ event: "began", file: fileOf(module) });
  }

  onTestCaseReady(test) {
    write({ event: "test began", ...nameOf(test) });
  }

  onTestCaseResult(test) {
    const { state, errors = [] } = test.result();
    write({ event: "test", ...nameOf(test), state, errors: errors.map(textOf) });
  }

  onTestModuleEnd(module) {
    const errors = [
      ...module.errors(),
      ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
    ];
    write({
      event: "file",
      file: fileOf(module),
      ms: module.diagnostic().duration,
      errors: errors.map(textOf),
    });
  }

  onTestRunEnd(_modules, errors) {
    for (const error of errors) write({ event: "error", text: textOf(error) });
    write({ event: "done" });
  }
}

function textOf({ name, message, stack }) {
  return stack?.includes(message) ? stack : `${name}: ${message}\n${stack ?? ""}`;
}

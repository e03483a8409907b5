#!/usr/bin/env node
/**
 * Starts the built program. It is kept apart from `dist` so that it is there, and may be run, before the first build
 * and after every other one; and so that a Node that is too old is told so before it meets syntax it cannot read.
 */
import { existsSync } from "node:fs";

const main = new URL("../dist/cli/main.js", import.meta.url);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`docmirror: needs Node 20.19 or newer, this is ${process.versions.node}\n`);
  process.exitCode = 2;
} else if (!existsSync(main)) {
  process.stderr.write(
    "docmirror: it is not built, which `npm ci` does unless scripts are switched off\n  run `npm run build`\n",
  );
  process.exitCode = 2;
} else {
  await import(main.href);
}

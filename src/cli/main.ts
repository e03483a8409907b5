#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { runProgram } from "./run-program.ts";

// V8 lets its heap grow to a multiple of the live data before it collects garbage. Pages live only for a
// moment, so most of the heap would be garbage. Growth by 40 % keeps a sync under 200 MB and takes no longer
// (docs/internals/performance.md).
setFlagsFromString("--heap-growing-percent=40");

await runProgram(process.argv.slice(2));

#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { runProgram } from "./run-program.ts";

// V8 lets its heap grow to a multiple of the live data before it collects garbage. Pages live only for a
// moment, so most of the heap would be garbage. Growth by 40 % keeps a sync under 200 MB and takes no longer
// (docs/performance.md).
setFlagsFromString("--heap-growing-percent=40");
// A run of a few seconds pays for compiling without using what was compiled. A larger budget waits longer
// before it compiles, which saves a tenth of the time of Node.
setFlagsFromString("--interrupt-budget=600000");

await runProgram(process.argv.slice(2));

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
  if (process.env.npm_command !== undefined) stopWithParent();
  await import(main.href);
}

/**
 * A SIGTERM for npx, or for npm run, ends the shell that stands between, and that shell tells nobody: the program would
 * go on alone. So under npm it takes the end of its parent for the signal, unless one came already: the program takes
 * a second one as the wish to end at once.
 */
function stopWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 250);
  watch.unref();
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.once(signal, () => {
      clearInterval(watch);
      // Nobody else listens: the program is still being loaded, or is done but for its end.
      if (process.listenerCount(signal) === 0) process.exit(code);
    });
  }
}

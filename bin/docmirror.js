#!/usr/bin/env node
/**
 * Starts the built program. This file is not in `dist`, so that it exists and can be run before the first
 * build and after each later one. It also reports a Node that is too old before that Node reads newer syntax.
 */
import { existsSync } from "node:fs";

const main = new URL("../dist/cli/main.js", import.meta.url);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`docmirror: needs Node 20.19 or newer, this is ${process.versions.node}\n`);
  process.exitCode = 2;
} else if (!existsSync(main)) {
  process.stderr.write(
    "docmirror: it is not built, because it was installed without its scripts, or is a copy of its sources\n" +
      "  in a clone run `npm ci && npm run build`; elsewhere install what `npm pack` makes there\n",
  );
  process.exitCode = 2;
} else {
  if (process.env.npm_command !== undefined) stopWithParent();
  await import(main.href);
}

/**
 * npx and npm run start a shell in between. A SIGTERM ends that shell, which does not pass the signal on, so
 * the program would continue alone. So under npm the end of the parent counts as a SIGTERM, unless a signal
 * came before: the program treats a second signal as a request to end at once.
 */
function stopWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 250);
  watch.unref();
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 143 })) {
    process.once(signal, () => {
      clearInterval(watch);
      // Without another listener the program is still loading, or has already finished its work.
      if (process.listenerCount(signal) === 0) process.exit(code);
    });
  }
}

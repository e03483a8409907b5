// `npm test`, behind the build: the short tests, and beside them `npm run lint`, which reads the sources alone. Both run to their end, and
// what is found in the sources is printed last. Fails where one of them does. Arguments go to vitest.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

const ended = (child) =>
  new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });

const lint = spawn("npm run -s lint 2>&1", { shell: true, stdio: ["ignore", "pipe", "inherit"] });
const short = ["run", "--tags-filter=!long", ...process.argv.slice(2)];
const [found, ...codes] = await Promise.all([
  text(lint.stdout),
  ended(lint),
  ended(spawn("vitest", short, { stdio: "inherit" })),
]);
process.stdout.write(found);
process.exitCode = Math.max(...codes);

/** Makes the package `docmirror-client` of the typed client alone, from the build, in the folder that is named: `npm run pack:client`. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The bundle of the program, which the client does not need. */
const PROGRAM = join(ROOT, "dist", "cli");

const { version, license, type, engines, dependencies, exports } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
const folder = mkdtempSync(join(tmpdir(), "docmirror-client-"));
try {
  cpSync(join(ROOT, "dist"), join(folder, "dist"), {
    recursive: true,
    filter: (path) => path !== PROGRAM,
  });
  cpSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  const page = readFileSync(join(ROOT, "docs/client.md"), "utf8").replaceAll(
    "docmirror/client",
    "docmirror-client",
  );
  // The other pages stay behind.
  writeFileSync(join(folder, "README.md"), page.replace(/\[([^\]]*)\]\([a-z]+\.md\)/g, "$1"));
  const manifest = {
    name: "docmirror-client",
    version,
    license,
    type,
    engines,
    description: "A documentation hosting service's public v1 API as typed functions.",
    exports: { ".": exports["./client"] },
    dependencies: { "p-queue": dependencies["p-queue"], undici: dependencies.undici },
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const place = resolve(process.argv[2] ?? ".");
  execFileSync("npm", ["pack", "--pack-destination", place], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { docker, whyNoContainers } from "../support/docker.ts";

const missing = await whyNoContainers();
const IMAGE = `docmirror-test:${randomBytes(6).toString("hex")}`;
/** For what hangs: beside other tests a build once took more than six minutes. */
const BUILD_MS = 900_000;
const HARDENED = [
  ...["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
  ...["--network", "none"],
];

const inContainer = (script: string) =>
  docker(["run", "--rm", ...HARDENED, "--entrypoint", "sh", IMAGE, "-c", script]);

describe.skipIf(missing)(`the image${missing ? `, skipped: ${missing}` : ""}`, { tags: ["long"] }, () => {
  beforeAll(async () => {
    await docker(["build", "--tag", IMAGE, "--build-arg", "REVISION=abc", "."], {}, BUILD_MS);
  }, BUILD_MS);
  afterAll(async () => {
    await docker(["image", "rm", IMAGE]);
  });

  it("runs each command without npm, packages, rights, or a root that can be written", async () => {
    const names = COMMANDS.map(({ name }) => name).join(" ");
    await inContainer(`set -e; for name in ${names}; do docmirror "$name" --help >/dev/null; done`);
    expect(await inContainer("id -u; ls /usr/local/bin; ls /app; ls /app/dist")).toBe(
      "10001\ndocmirror\nnode\nLICENSE\nbin\ndist\nmigrations\npackage.json\ncli",
    );
    expect(await inContainer("ls /app/dist/cli/sbom.json /app/dist/cli/main.js.map")).toMatch(/sbom/);
    expect(await inContainer("touch /app/x 2>/dev/null || echo refused")).toBe("refused");
    expect(await inContainer("grep ^Cap /proc/self/status | cut -f2 | sort -u")).toBe("0000000000000000");
  });

  it("says what it is, and how it is stopped and asked for its health", async () => {
    const [{ Config, Size }] = JSON.parse(await docker(["image", "inspect", IMAGE]));
    const label = (name: string) => Config.Labels[`org.opencontainers.image.${name}`];
    expect([label("title"), label("revision")]).toEqual(["docmirror", "abc"]);
    const run = { User: "10001:10001", StopSignal: "SIGTERM", Entrypoint: ["docmirror"], Cmd: ["worker"] };
    expect(Config).toMatchObject(run);
    expect(Config.Healthcheck.Test.at(-1)).toContain("/readyz");
    // Node is 127 MB of it, Debian 75 to 80.
    expect(Size / 1e6).toBeLessThan(230);
  });

  it("ends by SIGTERM, though it is the first process of its container", async () => {
    const container = await docker(["run", "--detach", ...HARDENED, IMAGE, "simulate"]);
    try {
      // Before that nobody listens for the signal, and the kernel keeps it from a first process.
      while (!(await docker(["logs", container])).includes("http://")) await systemClock.sleep(100);
      await docker(["stop", "--time", "30", container]);
      expect(await docker(["inspect", "--format", "{{.State.ExitCode}}", container])).toBe("143");
    } finally {
      await docker(["rm", "--force", container]);
    }
  });

  it("has the engine for Parquet only in the target of that name", { timeout: BUILD_MS }, async () => {
    const tag = `${IMAGE}-parquet`;
    await docker(["build", "--target", "parquet", "--tag", tag, "."], {}, BUILD_MS);
    try {
      const look =
        "import('@duckdb/node-api').then(() => console.log('there'), () => console.log('not there'))";
      const asked = (image: string) =>
        docker(["run", "--rm", ...HARDENED, "--entrypoint", "node", image, "-e", look]);
      expect([await asked(IMAGE), await asked(tag)]).toEqual(["not there", "there"]);
    } finally {
      await docker(["image", "rm", tag]);
    }
  });
});

/** @module-tag long */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { findWatchdog, isPasswordCopied } from "../../../src/base/config/environment.ts";
import { pageOf, startCli } from "../../support/cli.ts";
import { createFolder } from "../../support/folder.ts";

const isHere = (name: string) => spawnSync(name, ["--version"]).status === 0;
const hasPrograms = ["systemd-notify", "python3"].every(isHere);

/** Node has no unix datagrams. */
const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("up", flush=True)
while True: print(receiver.recv(4096).decode(), flush=True)`;
/** As a bug would, at a signal. */
const STANDS_STILL = "process.on('SIGUSR2', () => { for (;;); })";

describe.skipIf(!hasPrograms)("a worker under WatchdogSec (needs systemd-notify and python3)", () => {
  it("tells systemd that it lives while its database is down, and neither systemd nor /livez hears of it when its loop stands still", async () => {
    using folder = createFolder("docmirror-notify-");
    const path = folder.at("socket");
    const receiver = spawn("python3", ["-c", RECEIVER, path], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      let heard = "";
      receiver.stdout.setEncoding("utf8").on("data", (text: string) => (heard += text));
      await expect.poll(() => heard).toBe("up\n");
      await using worker = startCli(["worker", "--http-port", "0", "--base-url", "http://127.0.0.1:1"], {
        env: {
          DATABASE_URL: "postgres://127.0.0.1:1/m",
          NOTIFY_SOCKET: path,
          WATCHDOG_USEC: "1500000",
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(STANDS_STILL)}`,
        },
      });
      const page = await pageOf(worker);
      const messages = () => heard.split("\n").filter((line) => line === "WATCHDOG=1").length;
      await expect.poll(messages).toBeGreaterThan(3);
      expect((await fetch(`${page}/livez`)).status).toBe(200);

      worker.signal("SIGUSR2");
      const isSilent = () =>
        fetch(`${page}/livez`, { signal: AbortSignal.timeout(3000) }).then(
          () => false,
          (error) => error.name === "TimeoutError",
        );
      // A request may overtake the signal.
      await expect.poll(isSilent).toBe(true);
      // Those that were under way have arrived.
      const before = messages();
      expect(await isSilent()).toBe(true);
      expect(messages()).toBe(before);
    } finally {
      receiver.kill();
      await once(receiver, "exit");
    }
  });

  it("says so where systemd cannot be told, and works on", async () => {
    await using worker = startCli(["worker", "--http-port", "0", "--base-url", "http://127.0.0.1:1"], {
      env: { DATABASE_URL: "postgres://127.0.0.1:1/m", NOTIFY_SOCKET: "/nowhere", WATCHDOG_USEC: "3000000" },
    });
    await worker.waitFor("stderr", /could not tell systemd that this process lives/);
    await worker.waitFor("stderr", /the database is down; waiting for it/);
    expect((await worker.stop()).code).toBe(143);
  });
});

describe("findWatchdog", () => {
  const asked = { NOTIFY_SOCKET: "/run/systemd/notify", WATCHDOG_USEC: "120000000", PATH: "/usr/bin" };

  it("finds what systemd asks of this process alone", () => {
    const env = { NOTIFY_SOCKET: "/run/systemd/notify", PATH: "/usr/bin" };
    expect(findWatchdog({ ...asked, WATCHDOG_PID: "7" }, 7)).toEqual({ withinMs: 120_000, env });
    expect(findWatchdog(asked, 7)).toEqual({ withinMs: 120_000, env });
    expect(findWatchdog({ ...asked, WATCHDOG_PID: "6" }, 7)).toBeNull();
  });

  it.each([
    { NOTIFY_SOCKET: "" },
    { WATCHDOG_USEC: "" },
    { WATCHDOG_USEC: "0" },
    { WATCHDOG_USEC: "soon" },
  ])("is null with %o", (other) => {
    expect(findWatchdog({ ...asked, ...other })).toBeNull();
  });
});

describe("isPasswordCopied", () => {
  const copies = "/run/credentials/docmirror.service";
  it.each([
    [true, { DOCMIRROR_DATABASE_PASSWORD_FILE: `${copies}/database_password` }],
    [true, { DATABASE_URL_FILE: `${copies}/database_url` }],
    [false, { DOCMIRROR_DATABASE_PASSWORD_FILE: "/run/secrets/database_password" }],
    [false, { DOCMIRROR_WEBHOOK_SECRET_FILE: `${copies}/webhook_secret` }],
  ])("is %s with %o under systemd's LoadCredential, and never elsewhere", (isCopied, files) => {
    expect(isPasswordCopied({ CREDENTIALS_DIRECTORY: copies, ...files })).toBe(isCopied);
    expect(isPasswordCopied(files)).toBe(false);
  });
});

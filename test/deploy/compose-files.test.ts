import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SETTING_KEYS, SETTINGS } from "../../src/base/config/settings.ts";
import { HAS_OPENSSL } from "../support/certificate.ts";
import { useFolder } from "../support/folder.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const hasShellcheck = spawnSync("shellcheck", ["--version"]).status === 0;

const folder = useFolder("docmirror-scripts-");

const run = (script: string, args: readonly string[] = [], more: Record<string, string> = {}) => {
  const env = { ...process.env, ...more };
  return spawnSync(join(ROOT, "deploy/compose", script), args, { encoding: "utf8", env });
};
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("docker-compose.yml", () => {
  const text = read("docker-compose.yml");
  const file = parse(text, { merge: true });
  const services = Object.entries<Record<string, unknown>>(file.services);

  it.each(services)("gives %s limits, and no rights", (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      pids_limit: 200,
      ulimits: { core: 0 },
      restart: expect.stringMatching(/^(unless-stopped|on-failure:5)$/),
      logging: { driver: "json-file", options: { "max-size": "10m", "max-file": "5" } },
      mem_limit: expect.stringMatching(/^\$\{\w+_MEMORY:-\d+[mg]\}$/),
      cpus: expect.stringMatching(/^\$\{\w+_CPUS:-1\}$/),
    });
    const ports = (service.ports ?? []) as string[];
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });

  it("names no setting that docmirror, which may share .env, would refuse", () => {
    const used = (text.match(/\bDOCMIRROR_[A-Z_]+/g) ?? []).map((name) => name.replace(/_FILE$/, ""));
    expect(SETTING_KEYS.map((key) => SETTINGS[key].name)).toEqual(expect.arrayContaining(used));
  });

  it("gives Grafana all that its provisioning reads", () => {
    const { environment, secrets, volumes } = file.services.grafana;
    const source = read("deploy/grafana/provisioning/datasources/docmirror.yaml");
    for (const [, name = ""] of source.matchAll(/: \$(READER_\w+)$/gm))
      expect(environment).toHaveProperty(name);
    const [, secret] = /\$__file\{\/run\/secrets\/(\w+)\}/.exec(source) ?? [];
    expect(secrets).toContain(secret);
    const [{ options }] = parse(read("deploy/grafana/provisioning/dashboards/docmirror.yaml")).providers;
    expect(volumes).toContain(`./deploy/grafana/dashboards:${options.path}:ro`);
    expect(file.services["grant-reader"].command).toEqual(["grant-reader", environment.READER_NAME]);
    expect(read("deploy/compose/create-roles.sh")).toContain(`create role ${environment.READER_NAME} login`);
  });

  it("gives the owner's password to what changes tables, and the worker another role", () => {
    const logins = services
      .filter(([, { environment }]) => (environment as Record<string, string>)?.DATABASE_URL)
      .map(([name, service]) => {
        const environment = service.environment as Record<string, string>;
        const [secret] = service.secrets as string[];
        expect(environment.DOCMIRROR_DATABASE_PASSWORD_FILE).toBe(`/run/secrets/${secret}`);
        return [name, `${new URL(environment.DATABASE_URL ?? "").username}, ${secret}`];
      });
    const [owner, worker] = ["docmirror, database_password", "docmirror_worker, worker_password"];
    const wanted = { migrate: owner, "grant-reader": owner, worker, prune: worker };
    expect(Object.fromEntries(logins)).toEqual(wanted);
    expect(file.services.migrate.command).toEqual(["migrate", "--worker", "docmirror_worker"]);
    expect(read("deploy/compose/create-roles.sh")).toContain("create role docmirror_worker login");
  });

  it("backs up each night into a volume, whose settings every command can use", () => {
    const { environment, volumes } = file.services.worker;
    expect(volumes).toContain(`backups:${environment.DOCMIRROR_BACKUP_DIR}`);
    expect(file.volumes).toHaveProperty("backups");
    expect(read("Dockerfile")).toContain(
      `install -d -o 10001 -g 10001 -m 0700 ${environment.DOCMIRROR_BACKUP_DIR}`,
    );
    // `.env` may name the cron line, and one without a folder is refused.
    const without = services.filter(([, { env_file, environment }]) => {
      const [{ path = "" } = {}] = (env_file ?? []) as { path: string }[];
      return path === ".env" && !(environment as Record<string, string>).DOCMIRROR_BACKUP_DIR;
    });
    expect(without).toEqual([]);
  });

  it("prunes each month, where that is wanted", () => {
    const { profiles, entrypoint, restart, init } = file.services.prune;
    expect([profiles, restart, init]).toEqual([["prune"], "unless-stopped", true]);
    const [shell, flags, script] = entrypoint;
    // A `docmirror` and a `sleep` that say how they were called; the second one ends the shell.
    writeFileSync(folder.at("docmirror"), '#!/bin/sh\necho "docmirror $*"\n', { mode: 0o755 });
    writeFileSync(folder.at("sleep"), '#!/bin/sh\necho "sleep $*"\nkill $PPID\n', { mode: 0o755 });
    const env = { PATH: `${folder.path}:${process.env.PATH}` };
    const { stdout } = spawnSync(shell, [flags, script], { encoding: "utf8", env });
    expect(stdout).toBe("docmirror prune --older-than 400d --json\nsleep 30d\n");
  });

  it("asks the worker by a check that may end it", () => {
    const { init, volumes, healthcheck, environment } = file.services.worker;
    const [, program, script, url, parent] = healthcheck.test;
    expect({ init, program, parent }).toEqual({ init: true, program: "node", parent: "1" });
    expect(volumes).toContain(`./deploy/compose/check-worker.mjs:${script}:ro`);
    expect(new URL(url).port).toBe(environment.DOCMIRROR_HTTP_PORT);
    // Docker would end the check before it could end the worker.
    expect(healthcheck.timeout).toBe("90s");
  });

  it("has the database without a way to the outside, and no name, so that each copy of the folder is a project", () => {
    expect(file.name).toBeUndefined();
    expect(file.networks.data).toEqual({ internal: true });
    expect(file.services.db.networks).toEqual(["data"]);
  });
});

describe.skipIf(!existsSync("/proc/self/task"))("check-worker.mjs", () => {
  /** Answers as a worker does that is ready when it is asked first; after `/stand-still` its loop turns no more. */
  const WORKER = `
    let asked = 0;
    const server = require("node:http").createServer(({ url }, reply) => {
      if (url === "/stand-still") reply.end("", () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
      else reply.writeHead(url === "/readyz" && asked++ > 0 ? 503 : 200, { connection: "close" }).end();
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

  it("ends a worker that says nothing any more, and none that is only not ready, or not there", {
    tags: ["long"],
  }, async () => {
    // A shell is what an init is to a container: it starts the worker, and ends with its code.
    const start = ["-c", '"$0" -e "$1" & wait $!', process.execPath, WORKER];
    // A group of its own, so that both end with the test.
    const init = spawn("sh", start, { stdio: ["ignore", "pipe", "inherit"], detached: true });
    try {
      const [port] = (await once(init.stdout, "data")) as [Buffer];
      const url = `http://127.0.0.1:${String(port).trim()}`;
      const ended = once(init, "exit");
      const check = async (of: string, withinMs: number) => {
        const script = join(ROOT, "deploy/compose/check-worker.mjs");
        const child = spawn(process.execPath, [script, of, String(init.pid), String(withinMs)]);
        return (await once(child, "exit"))[0];
      };
      expect(await check(url, 60_000)).toBe(0);
      expect(await check(url, 60_000)).toBe(1);
      expect(await check("http://127.0.0.1:1", 60_000)).toBe(1);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
      await fetch(`${url}/stand-still`);
      expect(await check(url, 1000)).toBe(1);
      expect(await ended).toEqual([128 + 9, null]);
    } finally {
      if (init.exitCode === null) process.kill(-(init.pid ?? 0), "SIGKILL");
    }
  });
});

describe("a health check", () => {
  const [, ofImage = ""] = /HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(read("Dockerfile")) ?? [];
  const simulate = parse(read("docker-compose.yml"), { merge: true }).services.simulate;
  const commands: [string, string[]][] = [
    ["of the image", JSON.parse(ofImage)],
    ["of the simulation", simulate.healthcheck.test.slice(1)],
    ["of the worker", ["node", join(ROOT, "deploy/compose/check-worker.mjs"), "http://127.0.0.1:8000", "0"]],
  ];

  it.each(commands)("%s asks the process itself, and no proxy", async (_, [, ...args]) => {
    let status = 200;
    const server = createServer((_request, reply) => void reply.writeHead(status).end()).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    const port = String((server.address() as AddressInfo).port);
    const proxy = "http://127.0.0.1:1";
    // Node from 22.21 on reads these, for `fetch` and for its own agents.
    const proxies = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, http_proxy: proxy };
    const env = { ...process.env, ...proxies, DOCMIRROR_HTTP_PORT: port };
    const at = args.map((arg) => arg.replace("127.0.0.1:8000", `127.0.0.1:${port}`));
    const check = async () => (await once(spawn(process.execPath, at, { env, stdio: "ignore" }), "exit"))[0];
    try {
      expect(await check()).toBe(0);
      status = 503;
      expect(await check()).toBe(1);
    } finally {
      server.close();
    }
    expect(await check()).toBe(1);
    const script = args.find((arg) => arg.endsWith(".mjs"));
    expect(script === undefined ? args.join(" ") : readFileSync(script, "utf8")).not.toContain("fetch(");
  });
});

describe.skipIf(!HAS_OPENSSL)("make-secrets.sh", () => {
  it("makes each file that docker-compose.yml reads, in a folder that keeps others out", () => {
    const secrets = folder.at("the secrets");
    expect(run("make-secrets.sh", [secrets]).status).toBe(0);
    const files = Object.values<{ file: string }>(parse(read("docker-compose.yml")).secrets);
    const names = files.map(({ file }) => file.split("/").at(-1) ?? "");
    expect(readdirSync(secrets).toSorted()).toEqual(names.toSorted());
    expect(modeOf(secrets)).toBe("700");
    const passwords = names.map((name) => readFileSync(join(secrets, name), "utf8"));
    for (const password of passwords) expect(password).toMatch(/^[\w+/=]{32}\n$/);
    expect(new Set(passwords).size).toBe(names.length);
    for (const name of names) expect(modeOf(join(secrets, name))).toBe("444");
  });

  it("leaves a file that is there as it is", () => {
    writeFileSync(folder.at("reader_password"), "mine");
    expect(run("make-secrets.sh", [folder.path]).stdout).not.toContain("reader_password");
    expect(readFileSync(folder.at("reader_password"), "utf8")).toBe("mine");
  });
});

describe("pin-images.sh", () => {
  const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

  const pin = (script: string) => {
    writeFileSync(folder.at("docker"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return run("pin-images.sh", [], { PATH: `${folder.path}:${process.env.PATH}` });
  };

  it("prints each image that the Dockerfile and docker-compose.yml name, with its digest", () => {
    const { status, stdout } = pin(`echo ${DIGEST}`);
    expect(status).toBe(0);
    const lines = stdout.trim().split("\n");
    const pinned = (path: string, image: RegExp) =>
      [...read(path).matchAll(image)].map(([, name, of]) => `${name}=${of}@${DIGEST}`);
    const defaults = pinned("docker-compose.yml", /\$\{(\w+_IMAGE):-(\S+:\S+?)\}/g);
    expect(lines.toSorted()).toEqual(defaults.toSorted());
    const args = pinned("Dockerfile", /^ARG (\w+_IMAGE)=(.*)$/gm);
    expect(args).toHaveLength(2);
    expect(lines).toEqual(expect.arrayContaining(args));
  });

  it.each([
    ["the registry does not answer", "exit 1"],
    ["the answer is no digest", "echo latest"],
  ])("prints nothing where %s", (_why, script) => {
    const { status, stdout, stderr } = pin(script);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain("nothing was pinned");
  });
});

it.skipIf(!hasShellcheck)("shellcheck finds nothing in the scripts", () => {
  const names = readdirSync(join(ROOT, "deploy/compose")).filter((name) => name.endsWith(".sh"));
  const paths = [...names.map((name) => `deploy/compose/${name}`), ".ci/run", "lab/busy.sh"];
  const { status, stdout } = spawnSync("shellcheck", paths, { cwd: ROOT, encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});

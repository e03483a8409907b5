import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SETTING_KEYS, SETTINGS } from "../../src/base/config/settings.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const hasShellcheck = spawnSync("shellcheck", ["--version"]).status === 0;
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "docmirror-scripts-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (script: string, args: readonly string[] = [], env: Record<string, string> = {}) =>
  spawnSync(join(ROOT, "deploy/compose", script), args, {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
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
      restart: expect.stringMatching(/^(unless-stopped|on-failure:5)$/),
      logging: { driver: "json-file", options: { "max-size": "10m", "max-file": "5" } },
      mem_limit: expect.stringMatching(/^\$\{\w+_MEMORY:-\d+[mg]\}$/),
      cpus: expect.stringMatching(/^\$\{\w+_CPUS:-1\}$/),
    });
    const ports = (service.ports ?? []) as string[];
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });

  it("has no name of its own, so that each copy of the folder is a project", () => {
    expect(file.name).toBeUndefined();
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

  it("has the database without a way to the outside", () => {
    expect(file.networks.data).toEqual({ internal: true });
    expect(file.services.db.networks).toEqual(["data"]);
  });
});

describe.skipIf(!hasOpenssl)("make-secrets.sh", () => {
  it("makes each file that docker-compose.yml reads, in a folder that keeps others out", () => {
    const secrets = join(folder, "the secrets");
    expect(run("make-secrets.sh", [secrets]).status).toBe(0);
    const files = Object.values(
      parse(read("docker-compose.yml")).secrets as Record<string, { file: string }>,
    );
    const names = files.map(({ file }) => file.split("/").at(-1) ?? "");
    expect(readdirSync(secrets).toSorted()).toEqual(names.toSorted());
    expect(modeOf(secrets)).toBe("700");
    const passwords = names.map((name) => readFileSync(join(secrets, name), "utf8"));
    for (const password of passwords) expect(password).toMatch(/^[\w+/=]{32}\n$/);
    expect(new Set(passwords).size).toBe(names.length);
    for (const name of names) expect(modeOf(join(secrets, name))).toBe("444");
  });

  it("leaves a file that is there as it is", () => {
    writeFileSync(join(folder, "reader_password"), "mine");
    expect(run("make-secrets.sh", [folder]).stdout).not.toContain("reader_password");
    expect(readFileSync(join(folder, "reader_password"), "utf8")).toBe("mine");
  });
});

describe("pin-images.sh", () => {
  const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

  /** Runs it with a `docker` that does this. */
  const pin = (script: string) => {
    writeFileSync(join(folder, "docker"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return run("pin-images.sh", [], { PATH: `${folder}:${process.env.PATH}` });
  };

  it("prints each image that the Dockerfile and docker-compose.yml name, with its digest", () => {
    const { status, stdout } = pin(`echo ${DIGEST}`);
    expect(status).toBe(0);
    const lines = stdout.trim().split("\n");
    const defaults = [...read("docker-compose.yml").matchAll(/\$\{(\w+_IMAGE):-(\S+:\S+?)\}/g)].map(
      ([, name, image]) => `${name}=${image}@${DIGEST}`,
    );
    expect(lines.toSorted()).toEqual(defaults.toSorted());
    const args = [...read("Dockerfile").matchAll(/^ARG (\w+_IMAGE)=(.*)$/gm)].map(
      ([, name, image]) => `${name}=${image}@${DIGEST}`,
    );
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
  const scripts = readdirSync(join(ROOT, "deploy/compose")).map((name) => join(ROOT, "deploy/compose", name));
  const scriptsBeside = [".ci/run", "lab/busy.sh"].map((name) => join(ROOT, name));
  const { status, stdout } = spawnSync("shellcheck", [...scripts, ...scriptsBeside], {
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});

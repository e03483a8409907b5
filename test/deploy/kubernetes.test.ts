import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SETTING_KEYS, SETTINGS } from "../../src/base/config/settings.ts";
import { loadConfig } from "../../src/base/config.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { installPackages } from "../support/python-packages.ts";

const FOLDER = fileURLToPath(new URL("../../deploy/kubernetes/", import.meta.url));
const names = readdirSync(FOLDER);
// As kubectl reads them: an anchor is a copy.
const read = (name: string) => parse(readFileSync(`${FOLDER}${name}`, "utf8"));
const worker = read("worker.yaml");
const cronJob = read("cronjob.yaml");
const settings = read("settings.yaml");
const pods = [
  ["worker.yaml", worker.spec.template],
  ["cronjob.yaml", cronJob.spec.jobTemplate.spec.template],
] as const;

describe.each(pods)("the pods of %s", (_name, { spec, metadata }) => {
  it("have no rights, and no variables that would look like settings", () => {
    expect(spec).toMatchObject({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: "RuntimeDefault" } },
    });
    for (const container of [...spec.initContainers, ...spec.containers]) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources.limits).toEqual({ cpu: "1", memory: "512Mi" });
    }
  });

  it("run commands that are there, with settings that can be used", () => {
    for (const { args, env, envFrom } of [...spec.initContainers, ...spec.containers]) {
      expect(COMMANDS.map(({ name }) => name)).toContain(args[0]);
      expect(envFrom).toEqual([{ configMapRef: { name: settings.metadata.name } }]);
      const given = {
        ...settings.data,
        ...Object.fromEntries(env.map((one: { name: string; value: string }) => [one.name, one.value])),
      };
      expect(given.DOCMIRROR_DATABASE_PASSWORD_FILE).toBe("/run/secrets/docmirror/database_password");
      delete given.DOCMIRROR_DATABASE_PASSWORD_FILE;
      expect(() => loadConfig({ env: given, cwd: "/" })).not.toThrow();
      expect(SETTING_KEYS.map((key) => SETTINGS[key].name)).toEqual(
        expect.arrayContaining(Object.keys(given)),
      );
    }
  });

  it("are held by the network policy, and read the secret", () => {
    const selector = read("network-policy.yaml").spec.podSelector.matchLabels;
    expect(metadata.labels).toMatchObject(selector);
    const secret = read("secret.example.yaml");
    expect(spec.volumes).toEqual([
      { name: "secrets", secret: { secretName: secret.metadata.name, defaultMode: 0o440 } },
    ]);
    expect(secret.data).toEqual({ database_password: "" });
  });
});

describe("deploy/kubernetes", () => {
  it("starts two workers, and finds them by the same labels everywhere", () => {
    const { labels } = worker.spec.template.metadata;
    expect(worker.spec.replicas).toBe(2);
    for (const selector of [
      worker.spec.selector.matchLabels,
      worker.spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels,
      read("disruption-budget.yaml").spec.selector.matchLabels,
      read("service.yaml").spec.selector,
    ])
      expect(selector).toEqual(labels);
    const [{ ports, livenessProbe, startupProbe, readinessProbe }] = worker.spec.template.spec.containers;
    expect(read("service.yaml").spec.ports[0].targetPort).toBe(ports[0].name);
    expect(String(ports[0].containerPort)).toBe(SETTINGS.httpPort.default);
    const paths = [livenessProbe, startupProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(["/livez", "/livez", "/readyz"]);
  });

  it("lists each file but the alternatives in kustomization.yaml", () => {
    const others = ["cronjob.yaml", "kustomization.yaml", "secret.example.yaml"];
    expect(read("kustomization.yaml").resources.toSorted()).toEqual(
      names.filter((name) => !others.includes(name)).toSorted(),
    );
  });

  it("is what the published schemas allow, of the oldest and newest version", {
    tags: ["long"],
  }, async (test) => {
    const installed = await installPackages("kubernetes-requirements.txt");
    if ("missing" in installed) return test.skip(installed.missing);
    const files = names.filter((name) => name !== "kustomization.yaml").map((name) => `${FOLDER}${name}`);
    for (const version of ["1.30", "1.37"]) {
      const flags = ["-m", "kubernetes_validate", "--strict", "--kubernetes-version", version];
      const { stdout, stderr } = await promisify(execFile)(installed.python, [...flags, ...files]);
      expect(`${stdout}${stderr}`.match(/ passed for resource /g)).toHaveLength(files.length);
    }
  });
});

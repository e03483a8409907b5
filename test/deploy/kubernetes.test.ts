import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { SETTING_KEYS, SETTINGS } from "../../src/base/config/settings.ts";
import { loadConfig } from "../../src/base/config.ts";
import { EXIT } from "../../src/base/errors.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { installPackages } from "../support/python-packages.ts";

const FOLDER = fileURLToPath(new URL("../../deploy/kubernetes/", import.meta.url));
const names = readdirSync(FOLDER);
// As kubectl reads them: an anchor is a copy.
const read = (name: string) => parse(readFileSync(`${FOLDER}${name}`, "utf8"));
const worker = read("worker.yaml");
const cronJobs = ["cronjob.yaml", "prune.yaml", "backup.yaml"].map((name) => ({
  name,
  job: read(name).spec,
}));
const settings = read("settings.yaml");
const secrets = parseAllDocuments(readFileSync(`${FOLDER}secret.example.yaml`, "utf8")).map((one) =>
  one.toJS(),
);
const pods = [
  ["worker.yaml", worker.spec.template],
  ...cronJobs.map(({ name, job }) => [name, job.jobTemplate.spec.template] as const),
] as const;

type Variable = {
  name: string;
  value?: string;
  valueFrom?: { configMapKeyRef: { name: string; key: string } };
};

type Rule = { action: string; onExitCodes: { values: number[] } };

function environmentOf({ env }: { env: Variable[] }): Record<string, string> {
  const own = env.map(({ name, value, valueFrom }) => {
    if (valueFrom) expect(valueFrom.configMapKeyRef.name).toBe(settings.metadata.name);
    return [name, value ?? settings.data[valueFrom?.configMapKeyRef.key ?? ""]];
  });
  return { ...settings.data, ...Object.fromEntries(own) };
}

describe.each(pods)("the pods of %s", (_name, { spec, metadata }) => {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];

  it("have no rights, and no variables that would look like settings", () => {
    expect(spec).toMatchObject({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: "RuntimeDefault" } },
    });
    const fence = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    };
    for (const container of containers) {
      expect(container.securityContext).toEqual(fence);
      expect(container.resources.limits).toEqual({ cpu: "1", memory: "512Mi" });
    }
  });

  it("run commands that are there, with settings that can be used", () => {
    for (const container of containers) {
      const { args, envFrom } = container;
      expect(COMMANDS.map(({ name }) => name)).toContain(args[0]);
      expect(envFrom).toEqual([{ configMapRef: { name: settings.metadata.name } }]);
      const others = ["DOCMIRROR_DATABASE_PASSWORD_FILE", "MIGRATE_DATABASE_URL"];
      const given = Object.entries(environmentOf(container)).filter(([name]) => !others.includes(name));
      expect(() => loadConfig({ env: Object.fromEntries(given), cwd: "/" })).not.toThrow();
      const known = SETTING_KEYS.map((key) => SETTINGS[key].name);
      expect(known).toEqual(expect.arrayContaining(given.map(([name]) => name)));
    }
  });

  it("know Postgres by its certificate, and only migrate as the role that owns the tables", () => {
    const folders: Record<string, string> = {
      secrets: "/run/secrets/docmirror",
      "migrate-secrets": "/run/secrets/docmirror-migrate",
    };
    for (const container of containers) {
      const isMigrate = container.args[0] === "migrate";
      const env = environmentOf(container);
      const url = new URL(env.DATABASE_URL ?? "");
      expect(url.username).toBe(isMigrate ? "docmirror" : "docmirror_worker");
      const known = { sslmode: "verify-full", sslrootcert: "/run/secrets/docmirror/ca.crt" };
      expect(Object.fromEntries(url.searchParams)).toEqual(known);
      if (isMigrate) expect(container.args).toEqual(["migrate", "--worker", "docmirror_worker"]);
      const names = isMigrate ? ["secrets", "migrate-secrets"] : ["secrets"];
      const mounts: object[] = names.map((name) => ({ name, mountPath: folders[name], readOnly: true }));
      const [command, folder] = container.args;
      if (command === "backup") mounts.push({ name: "backups", mountPath: folder });
      expect(container.volumeMounts).toEqual(mounts);
      expect(env.DOCMIRROR_DATABASE_PASSWORD_FILE).toBe(`${folders[names.at(-1) ?? ""]}/database_password`);
    }
  });

  it("are held by the network policy, and read the secrets", () => {
    const selector = read("network-policy.yaml").spec.podSelector.matchLabels;
    expect(metadata.labels).toMatchObject(selector);
    const names = spec.volumes.map(({ name }: { name: string }) => name);
    const volumes = [
      { name: "secrets", secret: { secretName: "docmirror", defaultMode: 0o440 } },
      { name: "migrate-secrets", secret: { secretName: "docmirror-migrate", defaultMode: 0o440 } },
      { name: "backups", persistentVolumeClaim: { claimName: read("backups-volume.yaml").metadata.name } },
    ];
    expect(spec.volumes).toEqual(volumes.filter(({ name }) => names.includes(name)));
    const mounted = containers.flatMap((one) => one.volumeMounts);
    expect(new Set(mounted.map(({ name }: { name: string }) => name))).toEqual(new Set(names));
  });
});

describe.each(cronJobs)("the job of $name", ({ job }) => {
  it("ends before the next one, so that one that hangs holds up none", () => {
    expect(job.concurrencyPolicy).toBe("Forbid");
    const { activeDeadlineSeconds, backoffLimit } = job.jobTemplate.spec;
    expect(activeDeadlineSeconds).toBeLessThan(24 * 3600);
    expect(backoffLimit).toBe(3);
  });

  it("is not tried again where a person is needed, and does not fail while another run is active", () => {
    const { rules } = job.jobTemplate.spec.podFailurePolicy;
    const codes = (wanted: string) =>
      rules.flatMap(({ action, onExitCodes }: Rule) => (action === wanted ? onExitCodes.values : []));
    expect(codes("FailJob")).toEqual(expect.arrayContaining([EXIT.bug, EXIT.usage, EXIT.schemaVersion]));
    const isSync = job.jobTemplate.spec.template.spec.containers[0].args[0] === "sync";
    expect(codes("Ignore")).toEqual(isSync ? [EXIT.locked] : []);
    // The schema of Kubernetes wants this of pods with such rules.
    expect(job.jobTemplate.spec.template.spec.restartPolicy).toBe("Never");
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

  it("restarts a worker that says nothing for a minute, and stops one after its requests went elsewhere", () => {
    const { containers, terminationGracePeriodSeconds } = worker.spec.template.spec;
    const [{ livenessProbe, lifecycle }] = containers;
    expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBe(60);
    const { seconds } = lifecycle.preStop.sleep;
    expect(seconds).toBeGreaterThan(0);
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(seconds + 20);
  });

  it("lets in its own pods, and a Prometheus of another namespace", () => {
    const { ingress } = read("network-policy.yaml").spec;
    const prometheus = {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } },
      podSelector: { matchLabels: { "app.kubernetes.io/name": "prometheus" } },
    };
    const wanted = [[{ podSelector: {} }], [prometheus]];
    expect(ingress.map(({ from }: { from: unknown }) => from)).toEqual(wanted);
  });

  it("has templates of its secrets, without a value", () => {
    expect(Object.fromEntries(secrets.map(({ metadata, data }) => [metadata.name, data]))).toEqual({
      docmirror: { database_password: "", "ca.crt": "" },
      "docmirror-migrate": { database_password: "" },
    });
  });

  it("lists each file but the secrets in kustomization.yaml; the alternative to the workers is suspended there", () => {
    const others = ["kustomization.yaml", "secret.example.yaml"];
    const listed = names.filter((name) => !others.includes(name));
    expect(read("kustomization.yaml").resources.toSorted()).toEqual(listed.toSorted());
    expect(cronJobs.filter(({ job }) => job.suspend).map(({ name }) => name)).toEqual(["cronjob.yaml"]);
  });

  it("gives each image the version of the program, also that of the alternative", () => {
    const { version } = JSON.parse(readFileSync(`${FOLDER}../../package.json`, "utf8"));
    expect(read("kustomization.yaml").images).toEqual([{ name: "docmirror", newTag: version }]);
    for (const [, { spec }] of pods)
      for (const { image } of [...(spec.initContainers ?? []), ...spec.containers])
        expect(image).toBe(`docmirror:${version}`);
  });

  it("is what published schemas allow, of the oldest and newest version", {
    tags: ["long"],
  }, async (test) => {
    const installed = await installPackages("kubernetes-requirements.txt");
    if ("missing" in installed) return test.skip(installed.missing);
    const files = names.filter((name) => name !== "kustomization.yaml").map((name) => `${FOLDER}${name}`);
    for (const version of ["1.30", "1.37"]) {
      const flags = ["-m", "kubernetes_validate", "--strict", "--kubernetes-version", version];
      const { stdout, stderr } = await promisify(execFile)(installed.python, [...flags, ...files]);
      // One file has two.
      expect(`${stdout}${stderr}`.match(/ passed for resource /g)).toHaveLength(files.length + 1);
    }
  });
});

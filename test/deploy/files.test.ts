import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import { describe, expect, it } from "vitest";
import { SETTING_KEYS, SETTINGS } from "../../src/base/config/settings.ts";

const FOLDER = new URL("../../deploy/", import.meta.url);
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((path) => statSync(new URL(path, FOLDER)).isFile())
  .map((path) => ({ path, text: readFileSync(new URL(path, FOLDER), "utf8") }));

describe("the files in deploy", () => {
  it("are texts of kinds that some test here reads", () => {
    const kinds = new Set(files.map(({ path }) => extname(path)));
    expect([...kinds].toSorted().join(" ")).toBe(
      ".conf .json .md .mjs .py .service .sh .sql .timer .yaml .yml",
    );
  });

  it("name no address outside", () => {
    const addresses = files.flatMap(({ path, text }) =>
      (text.match(/\w+:\/\/[^\s"'`)]+/g) ?? []).map((found) => `${path}: ${found}`),
    );
    const ours =
      /:\/\/(\w+@)?(docmirror|localhost|127\.0\.0\.1|postgres|simulate|docs\.example\.org)([:;/]|$)/;
    expect(addresses.filter((found) => !ours.test(found))).toEqual([]);
  });

  it("hold no secret: what is one comes from the environment or a file", () => {
    const given = files
      .filter(({ path }) => /\.(json|ya?ml)$/.test(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/^\W*\w*(?:password|secret|api_?key|token)\w*["']?\s*:\s*(.+)$/gim)].map(
          ([, value]) => `${path}: ${value}`,
        ),
      )
      // The name of a Kubernetes secret, and that no token is wanted.
      .filter((found) => !/^kubernetes\/\w+\.yaml: (secretName: docmirror(-migrate)?|false)$/.test(found));
    expect(given.toSorted()).toEqual([
      `dbt/profiles.yml: "{{ env_var('DBT_ENV_SECRET_READER_PASSWORD', '') }}"`,
      "grafana/provisioning/datasources/docmirror.yaml: $__file{/run/secrets/reader_password}",
      'kubernetes/secret.example.yaml: ""',
      'kubernetes/secret.example.yaml: ""',
    ]);
  });

  it("use no name that docmirror, which may share the environment, would refuse as no setting of its own", () => {
    const names = SETTING_KEYS.map((key) => SETTINGS[key].name);
    const used = files.flatMap(({ text }) => text.match(/\bDOCMIRROR_[A-Z_]+/g) ?? []);
    expect(names).toEqual(expect.arrayContaining(used.map((name) => name.replace(/_FILE$/, ""))));
  });
});

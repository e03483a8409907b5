import type { Config, SettingInForce } from "../../base/config.ts";
import type { Logger } from "../../base/log.ts";
import { hasPassword, withPassword } from "../../store/connection/database-url.ts";
import { scramPassword } from "../../store/connection/scram-password.ts";

/** The settings with `databasePassword` in each URL of a database that has none. */
export async function fillInPassword(config: Config): Promise<Config> {
  const { databasePassword, databaseUrl, readUrl } = config;
  if (databasePassword === null) return config;
  const password = await scramPassword(databasePassword);
  return Object.freeze({
    ...config,
    databaseUrl: databaseUrl && withPassword(databaseUrl, password),
    readUrl: readUrl && withPassword(readUrl, password),
  });
}

/** Warns of each password in a flag: every user of the machine can read the command lines of all processes. */
export function warnOfSecrets(config: Config, settings: readonly SettingInForce[], log: Logger): void {
  for (const { key, name, flag, source } of settings) {
    if (source !== "flag" || !isSecret(key, config)) continue;
    log.warn(
      { flag: `--${flag}`, hint: `give it by ${name}, or by the file that ${name}_FILE names` },
      "the password in a flag is visible to all users of this machine in the process list",
    );
  }
}

function isSecret(key: SettingInForce["key"], { databaseUrl, readUrl, baseUrl }: Config): boolean {
  if (key === "webhookUrl" || key === "webhookSecret" || key === "databasePassword") return true;
  if (key === "databaseUrl") return databaseUrl !== null && hasPassword(databaseUrl);
  if (key === "readUrl") return readUrl !== null && hasPassword(readUrl);
  // A user name alone may be a token.
  return key === "baseUrl" && baseUrl !== null && `${baseUrl.username}${baseUrl.password}` !== "";
}

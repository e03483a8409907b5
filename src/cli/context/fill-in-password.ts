import type { Config } from "../../base/config.ts";
import { withPassword } from "../../store/connection/database-url.ts";
import { scramPassword } from "../../store/connection/scram-password.ts";

/** The settings with `databasePassword` in each URL of a database that has none. Other code needs no more than the URLs. */
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

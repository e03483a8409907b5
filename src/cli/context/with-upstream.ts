import type { SettingKey } from "../../base/config/settings.ts";
import { requireBaseUrl } from "../../base/config.ts";
import { type Client, createClient } from "../../mirror/api/client.ts";
import type { CommandContext } from "./run-command.ts";

/** The settings of a command that asks the service directly, one request after the other. */
export const UPSTREAM_SETTINGS = [
  "baseUrl",
  "ratePerSecond",
  "timeoutMs",
  "retries",
  "maxBodyBytes",
] as const satisfies readonly SettingKey[];

/** Runs `use` with a client of the service, and closes it. */
export async function withUpstream<T>(
  { config, clock, log, signal }: CommandContext,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = createClient({
    ...config,
    baseUrl: requireBaseUrl(config),
    concurrency: 1,
    clock,
    log,
    signal,
  });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

import type { SettingKey } from "../../base/config/settings.ts";
import { requireBaseUrl } from "../../base/config.ts";
import { NotFoundError } from "../../base/errors.ts";
import { type Client, createClient } from "../../mirror/api/client.ts";
import { isGone } from "../../mirror/api/retry.ts";
import { fetchRootListing } from "../../mirror/lists/root-listing.ts";
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

/** Turns a 404 or 410 into a NotFoundError. A wrong base URL gives a 404 too, so the root listing is read first. */
export async function throwNotFound(
  error: unknown,
  client: Client,
  { message, hint }: { message: string; hint: string },
): Promise<never> {
  if (!isGone(error)) throw error;
  await fetchRootListing(client);
  throw new NotFoundError(message, { cause: error, hint });
}

import { HttpStatusError, NotFoundError } from "../../base/errors.ts";
import type { Client } from "../../mirror/api/client.ts";
import { fetchRootListing } from "../../mirror/lists/root-listing.ts";

/**
 * Turns a 404 or 410 into a NotFoundError. A wrong base URL gives a 404 too, so the root listing is read
 * first. Any other error is thrown as it is.
 */
export async function throwNotFound(
  error: unknown,
  client: Client,
  { message, hint }: { message: string; hint: string },
): Promise<never> {
  const isGone = error instanceof HttpStatusError && (error.status === 404 || error.status === 410);
  if (!isGone) throw error;
  await fetchRootListing(client);
  throw new NotFoundError(message, { cause: error, hint });
}

import { createClient } from "../mirror/api/client.ts";
import type { ServiceClientOptions } from "./client-options.ts";
import { resolveOptions } from "./resolve-options.ts";
import type { ServiceClient } from "./service-client.ts";
import { serviceClientOver } from "./service-client-over.ts";

/**
 * Makes a client of a service. It needs no database. Throws ConfigError for options that cannot be used.
 *
 * @example
 * await using service = createServiceClient({ baseUrl: "https://docs.example.org" });
 * for await (const build of service.list("build", { filters: { project__slug: "pip" } })) print(build.date);
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  return serviceClientOver(createClient(resolveOptions(options)), options);
}

import { createClient } from "../../mirror/api/client.ts";
import { fetchRootListing } from "../../mirror/lists/root-listing.ts";
import type { RootEndpoints } from "../../resources/resources.ts";
import type { CommandContext } from "../context/run-command.ts";
import { checkBuildList } from "./check-build-list.ts";
import { checkBuildSchema } from "./check-build-schema.ts";
import { checkClock } from "./check-clock.ts";
import { checkService } from "./check-service.ts";
import { type Finding, findingOf, unknown, unknowns } from "./finding.ts";

export const UPSTREAM_CHECKS = ["service", "builds", "build schema", "service clock"] as const;

/** A person waits for the result, so a failing request is reported early. */
const MAX_RETRIES = 1;

/** Makes the checks of the service: four requests when all goes well, at the set pace. */
export async function examineUpstream(context: CommandContext): Promise<Finding[]> {
  const { config, clock, log, signal } = context;
  if (config.baseUrl === null) return unknowns(UPSTREAM_CHECKS, "there is no service to ask: see settings");
  const client = createClient({
    ...config,
    baseUrl: config.baseUrl,
    concurrency: 1,
    retries: Math.min(config.retries, MAX_RETRIES),
    clock,
    log,
    signal,
  });
  try {
    const listing: { root: RootEndpoints | null } = { root: null };
    const service = await findingOf("service", signal, async () => {
      listing.root = (await fetchRootListing(client)).resources;
      return checkService(listing.root);
    });
    const { root } = listing;
    const shape =
      root === null
        ? unknowns(["builds", "build schema"], "the service did not answer as it should")
        : [
            await findingOf("builds", signal, () => checkBuildList(client, root)),
            await findingOf("build schema", signal, () => checkBuildSchema(client, root)),
          ];
    const clocks = await findingOf("service clock", signal, () => {
      const ahead = client.clockAhead();
      if (ahead === null) return unknown("the service did not send its time (no `Date` in its replies)");
      return checkClock(
        "the service's",
        ahead,
        "the bounds of a build's first sighting depend on its date, which is by that clock",
      );
    });
    return [service, ...shape, clocks];
  } finally {
    await client.close();
  }
}

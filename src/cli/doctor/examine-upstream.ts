import { EXIT, HttpStatusError, UpstreamError } from "../../base/errors.ts";
import { type Client, createClient } from "../../mirror/api/client.ts";
import { fateOf, isGone, isUpstreamLost } from "../../mirror/api/fates.ts";
import { fetchDetail } from "../../mirror/api/fetch-detail.ts";
import { fetchRootListing, probeBuilds } from "../../mirror/lists/root-listing.ts";
import { compareUpstreamSchema } from "../../mirror/run/upstream-schemas.ts";
import { RESOURCES, type RootEndpoints } from "../../resources/resources.ts";
import type { CommandContext } from "../context/run-command.ts";
import {
  checkCertificate,
  checkClock,
  type Finding,
  fault,
  faultOf,
  findingOf,
  listed,
  ok,
  type Result,
  unknown,
  unknowns,
  warning,
} from "./finding.ts";

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
    let shape = unknowns(["builds", "build schema"], "the service did not answer as it should");
    const service = await findingOf("service", signal, async () => {
      const listing = await fetchRootListing(client).catch((error: unknown) => {
        if (mayHaveMoved(error)) return faultOfMoved(error);
        throw error;
      });
      if ("status" in listing) return listing;
      const { resources: root } = listing;
      shape = [
        await findingOf("builds", signal, () => checkBuildList(client, root)),
        await findingOf("build schema", signal, () => checkBuildSchema(client, root)),
      ];
      const checked = checkService(root, config.leaveOut ?? []);
      const ending = checkCertificate("the service's", client.certificateEnd(), clock.now());
      return checked.status === "ok" && ending ? ending : checked;
    });
    const clocks = await findingOf("service clock", signal, () => {
      const ahead = client.clockAhead();
      if (ahead === null) return unknown("the service did not send its time (no `Date` in its replies)");
      const meaning = "the bounds of a build's first sighting depend on its date, which is by that clock";
      return checkClock("the service's", ahead, meaning);
    });
    return [service, ...shape, clocks];
  } finally {
    await client.close();
  }
}

/** A service that limits us, has a fault, or refuses the reader is there. */
const mayHaveMoved = (error: unknown): error is UpstreamError =>
  error instanceof UpstreamError &&
  !(error instanceof HttpStatusError) &&
  fateOf(error.cause)?.about !== "reader";

function faultOfMoved(error: UpstreamError): Result {
  const { repair, ...found } = faultOf(error);
  const moved =
    "if it has moved: set DOCMIRROR_BASE_URL to its new address, then run `docmirror migrate --service NEW_URL` once";
  return { ...found, repair: [repair ?? [], moved].flat().join("; ") };
}

/** Checks that the root listing has all resources. */
function checkService(root: RootEndpoints, leftOut: readonly string[]): Result {
  const absent = RESOURCES.filter((resource) => root[resource] === undefined && !leftOut.includes(resource));
  const wanted = RESOURCES.filter((resource) => !leftOut.includes(resource));
  if (absent.length === 0) return ok(`the root listing has ${wanted.join(", ")}`);
  return fault(
    `the root listing has no ${absent.join(", no ")}, so each sync of a week is partial`,
    `ask the service's operator; leave out what is gone for good: DOCMIRROR_LEAVE_OUT=${absent.join(",")}`,
    EXIT.interfaceChanged,
  );
}

/** Checks that the newest build can be read from the list and as a detail. */
async function checkBuildList(client: Client, root: RootEndpoints): Promise<Result> {
  if (root.build === undefined) return unknown("the root listing has no build");
  const { totalCount, id, rejected, drift } = await probeBuilds(client, root.build.list_endpoint);
  if (rejected !== null) {
    return warning(
      `the newest build cannot be stored: ${rejected}`,
      "see it with `docmirror get build --limit 1`; a sync puts such records in quarantine and stores the others",
    );
  }
  if (id === null) {
    return warning(
      "the list of builds is empty",
      "check whether you may see it: some services need a user and a password in DOCMIRROR_BASE_URL",
    );
  }
  if (!(await hasDetail(client, id))) {
    return warning(
      `the list has build ${id}, but the service says that its detail does not exist`,
      "run doctor again; if this stays, builds are followed only by the list, and open ones look as if they had vanished",
    );
  }
  const held = totalCount === null ? "" : `; the list has ${totalCount}`;
  if (drift.length > 0) {
    const fields = drift.map(({ field, detail }) => `${field} (${detail})`);
    return warning(
      `a page and a build can be read${held}; not as documented: ${listed(fields, 5)}`,
      "nothing is lost: `extra` has these fields; see sync.drift, and check whether a newer docmirror knows them",
    );
  }
  return ok(`a page and a build can be read${held}`);
}

async function hasDetail(client: Client, id: string): Promise<boolean> {
  try {
    await fetchDetail(client, "build", id);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Checks that the service's schema of builds names the documented fields. A service may have no schemas. */
async function checkBuildSchema(client: Client, root: RootEndpoints): Promise<Result> {
  if (root.build === undefined) return unknown("the root listing has no build");
  try {
    const difference = await compareUpstreamSchema(client, "build", root.build.schema);
    if (difference === null)
      return unknown("the service's schema of builds names no fields; a sync does not need it");
    const { unknown: appeared, missing } = difference;
    const parts = [
      ...(appeared.length > 0 ? [`also has ${listed(appeared, 8)}`] : []),
      ...(missing.length > 0 ? [`lacks ${listed(missing, 8)}`] : []),
    ];
    if (parts.length === 0) return ok("builds have the documented fields");
    return warning(
      `the service's schema of builds ${parts.join(" and ")}`,
      "nothing is lost: `extra` has the new fields; see sync.drift, and check whether a newer docmirror knows them",
    );
  } catch (error) {
    if (!(error instanceof UpstreamError) || isUpstreamLost(error)) throw error;
    return unknown(`the service gives no schema of builds: ${error.message}; a sync does not need it`);
  }
}

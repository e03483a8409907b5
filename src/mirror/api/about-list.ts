import type { Logger } from "../../base/log.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Client } from "./client.ts";

/** What writes lines about the requests of a run. */
export interface Told {
  client: Client;
  log: Logger;
}

/** The same client and log for work on one list: each of their lines, those of retries too, has its `resource`. */
export function aboutList({ client, log }: Told, resource: Resource): Told {
  const listLog = log.child({ resource });
  return {
    client: {
      ...client,
      fetchJson: (path, options) => client.fetchJson(path, { log: listLog, ...options }),
    },
    log: listLog,
  };
}

import type { Logger } from "../../base/log.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Client } from "./client.ts";

/** What writes lines about the requests of a run. */
export interface Told {
  client: Client;
  log: Logger;
}

/** The same for work on one list: each line of its client and its log, those of retries too, has its `resource`. */
export function aboutList<Parts extends Told>(parts: Parts, resource: Resource): Parts {
  const { client, log } = parts;
  const listLog = log.child({ resource });
  return {
    ...parts,
    client: {
      ...client,
      fetchJson: (path, options) => client.fetchJson(path, { log: listLog, ...options }),
    },
    log: listLog,
  };
}

import { Hono } from "hono";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { judgeSchema } from "../../report/status/schema-state.ts";
import type { Definitions } from "../../store/migrate/definitions.ts";
import type { BoundedReader } from "./bounded-reader.ts";
import { createBriefAnswer } from "./brief-answer.ts";
import { explainReplyFailure } from "./failure-reply.ts";
import { readOnly } from "./request-bounds.ts";

/** However many ask, the database is asked this often at most. */
const KEEP_MS = 1000;
const HEADERS = { "cache-control": "no-store" };

export interface ProbesDeps {
  reader: BoundedReader;
  definitions: Definitions;
  log: Logger;
}

/**
 * What a supervisor asks. `/livez` answers as long as the process turns, whatever the database does. `/readyz`
 * answers 200 when the database answers and its schema is that of this program, else 503 with the reason. It
 * never asks the service, and does not mind how old the mirror is.
 */
export function createProbes({ reader, definitions, log }: ProbesDeps): Hono {
  let lastFault: string | null | undefined;

  async function findFault(): Promise<string | null> {
    try {
      const { fault } = await reader.read((sql) => judgeSchema(sql, definitions));
      note(fault, {});
      return fault;
    } catch (error) {
      const { sentence } = explainReplyFailure(error);
      note(sentence, { error: messageOf(error) });
      return sentence;
    }
  }

  /** Probes come every few seconds, and a line for each would hide all others. */
  function note(fault: string | null, facts: Record<string, unknown>): void {
    if (fault === lastFault) return;
    lastFault = fault;
    if (fault === null) log.info("ready for requests");
    else log.warn({ reason: fault, ...facts }, "not ready for requests");
  }

  const askOnce = createBriefAnswer(findFault, KEEP_MS);
  const app = new Hono();
  app.use("/livez", readOnly());
  app.use("/readyz", readOnly());
  app.get("/livez", (c) => c.text("ok\n", 200, HEADERS));
  app.get("/readyz", async (c) => {
    const fault = await askOnce();
    if (fault === null) return c.json({ ready: true }, 200, HEADERS);
    return c.json({ ready: false, error: fault }, 503, { ...HEADERS, "retry-after": "1" });
  });
  return app;
}

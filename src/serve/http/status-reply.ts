import { Hono } from "hono";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ReadStatus } from "../../report/status/read-status.ts";
import type { BoundedReader } from "./bounded-reader.ts";
import { createBriefAnswer } from "./brief-answer.ts";
import { failureReply } from "./failure-reply.ts";
import { readOnly } from "./request-bounds.ts";

/** However many ask, the document is read this often at most. */
const KEEP_MS = 5000;
const PATH = "/status.json";
const HEADERS = { "cache-control": "no-store" };
const LATER = { "retry-after": "10" };

export interface StatusReplyDeps {
  reader: BoundedReader;
  readStatus: ReadStatus;
  clock: Clock;
  log: Logger;
}

/** The document of the mirror's state, at `/status.json`. 503 with the reason where it cannot be read. */
export function createStatusReply({ reader, readStatus, clock, log }: StatusReplyDeps): Hono {
  async function answer(): Promise<Response> {
    try {
      const status = await reader.read((sql) => readStatus(sql, clock.now()));
      if (!("fault" in status)) return Response.json(status, { headers: HEADERS });
      const { fault: error, ...facts } = status;
      return Response.json({ error, ...facts }, { status: 503, headers: { ...HEADERS, ...LATER } });
    } catch (error) {
      return failureReply(error, PATH, log);
    }
  }

  const answerOnce = createBriefAnswer(async () => {
    const reply = await answer();
    return { reply, body: await reply.text() };
  }, KEEP_MS);
  const app = new Hono();
  app.use(PATH, readOnly());
  app.get(PATH, async () => {
    const { reply, body } = await answerOnce();
    return new Response(body, reply);
  });
  return app;
}

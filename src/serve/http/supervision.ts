/** Answers supervisors and monitors. However many ask, the database is asked every few seconds at most. */
import { Hono } from "hono";
import type { Registry } from "prom-client";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { judgeSchema, type ReadStatus } from "../../report/status/read-status.ts";
import type { Definitions } from "../../store/migrate/definitions.ts";
import { readOnly } from "./app.ts";
import { explainReplyFailure, failureReply } from "./error-reply.ts";
import type { BoundedReader } from "./served-mirror.ts";

/** Gives all who ask within `keepMs` one answer. Who asks while it is being made waits. A failure is kept as long. */
export function createBriefAnswer<T>(
  make: () => Promise<T>,
  keepMs: number,
  /** Milliseconds of a clock that never goes back. */
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let kept: { answer: Promise<T>; untilMs: number } | null = null;

  return () => {
    if (kept !== null && nowMs() < kept.untilMs) return kept.answer;
    const fresh = { answer: make(), untilMs: Number.POSITIVE_INFINITY };
    kept = fresh;
    const settle = () => {
      fresh.untilMs = nowMs() + keepMs;
    };
    fresh.answer.then(settle, settle);
    return fresh.answer;
  };
}

const READINESS_KEPT_MS = 1000;
const UNCACHED = { "cache-control": "no-store" };

/**
 * `/livez` answers as long as the process turns, whatever the database does. `/readyz`
 * answers 200 when the database answers and its schema is that of this program, else 503 with the reason. It
 * never asks the service, and does not mind how old the mirror is.
 */
export function createProbes(reader: BoundedReader, definitions: Definitions, log: Logger): Hono {
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

  const askOnce = createBriefAnswer(findFault, READINESS_KEPT_MS);
  const app = new Hono();
  app.on("ALL", ["/livez", "/readyz"], readOnly());
  app.get("/livez", (c) => c.text("ok\n", 200, UNCACHED));
  app.get("/readyz", async (c) => {
    const fault = await askOnce();
    if (fault === null) return c.json({ ready: true }, 200, UNCACHED);
    return c.json({ ready: false, error: fault }, 503, { ...UNCACHED, "retry-after": "1" });
  });
  return app;
}

const STATUS_KEPT_MS = 5000;

/** The document of the mirror's state, at `/status.json`. 503 with the reason where it cannot be read. */
export function createStatusReply(reader: BoundedReader, readStatus: ReadStatus, clock: Clock, log: Logger) {
  async function answer(): Promise<Response> {
    try {
      const status = await reader.read((sql) => readStatus(sql, clock.now()));
      if (!("fault" in status)) return Response.json(status, { headers: UNCACHED });
      const { fault: error, ...facts } = status;
      const headers = { ...UNCACHED, "retry-after": "10" };
      return Response.json({ error, ...facts }, { status: 503, headers });
    } catch (error) {
      return failureReply(error, "/status.json", log);
    }
  }

  const answerOnce = createBriefAnswer(async () => {
    const reply = await answer();
    return { reply, body: await reply.text() };
  }, STATUS_KEPT_MS);
  const app = new Hono();
  app.use("/status.json", readOnly()).get("/status.json", async () => {
    const { reply, body } = await answerOnce();
    return new Response(body, reply);
  });
  return app;
}

const FIGURES_KEPT_MS = 3000;

/**
 * Answers `/metrics` for Prometheus: 200 also while the database is away, then without what comes from it. The registry has
 * what this process counts, and `readFigures`, which never rejects, what the database says.
 */
export function createMetricsRoute(
  registry: Registry,
  readFigures: () => Promise<Registry>,
  keepMs = FIGURES_KEPT_MS,
): Hono {
  const readOnce = createBriefAnswer(readFigures, keepMs);
  const app = new Hono();
  app.use("/metrics", readOnly()).get("/metrics", async (c) => {
    const figures = await readOnce();
    const texts = await Promise.all([figures.metrics(), registry.metrics()]);
    return c.body(texts.join("\n"), 200, { ...UNCACHED, "content-type": registry.contentType });
  });
  return app;
}

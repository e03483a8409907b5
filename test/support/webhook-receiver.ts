import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { closeAtOnce, listenOnLoopback } from "./free-port.ts";
import { PLANTED_KEY, PLANTED_SECRET } from "./planted-secret.ts";
import { createTally } from "./tally.ts";

/** The bytes of the tests' key, and the key as a setting has it. */
export const WEBHOOK_KEY = Buffer.from(PLANTED_SECRET);
export const WEBHOOK_SECRET = PLANTED_KEY;

export interface ArrivedNotice {
  id: string;
  path: string;
  headers: IncomingMessage["headers"];
  type: string;
  timestamp: string;
  data: Record<string, unknown> & { summary: string };
}

/** Answers by itself, or gives the status to answer with. */
export type Respond = (notice: ArrivedNotice, response: ServerResponse, place: number) => unknown;

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>;

/** What the URL of a receiver holds and nothing may print. */
export const SECRET_PATH = `/services/T0/${PLANTED_SECRET}`;

/** A receiver on loopback that checks signatures as receivers do, with the reference library of Standard Webhooks, unless told otherwise. */
export async function startWebhookReceiver(respond: Respond = () => 204, port = 0, isSigned = true) {
  const notices: ArrivedNotice[] = [];
  const forged: string[] = [];
  const tally = createTally(() => notices.length);
  const webhook = new Webhook(WEBHOOK_SECRET);
  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    try {
      if (isSigned) webhook.verify(body, headers);
    } catch {
      forged.push(body);
      response.writeHead(401).end();
      return;
    }
    const facts = { id: headers["webhook-id"] ?? "", path: request.url ?? "", headers: request.headers };
    const notice = { ...facts, ...JSON.parse(body) } as ArrivedNotice;
    const place = notices.push(notice) - 1;
    tally.come();
    const status = await receiver.respond(notice, response, place);
    if (typeof status === "number") response.writeHead(status).end();
  });
  const receiver = {
    /** With a path that must never be printed. */
    url: new URL(`${SECRET_PATH}?sig=${PLANTED_SECRET}`, await listenOnLoopback(server, port)),
    /** What arrived, in its order, each with a valid signature. */
    notices,
    /** Messages whose signature is wrong. */
    forged,
    /** What it answers: a status, or all that it does. A test may replace it. */
    respond,
    /** Resolves when so many notices have arrived. */
    arrived: tally.reached,
    [Symbol.asyncDispose]: () => closeAtOnce(server),
  };
  return receiver;
}

/** The settings of the environment that name a receiver. */
export const webhookEnv = ({ url }: Pick<WebhookReceiver, "url">) => ({
  DOCMIRROR_WEBHOOK_URL: url.href,
  DOCMIRROR_WEBHOOK_SECRET: WEBHOOK_SECRET,
});

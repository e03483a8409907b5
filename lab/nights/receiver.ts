/** The receiver of notices: checks each signature, keeps what came, and is away or broken when told so. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

export interface Notice {
  id: string;
  type: string;
  data: Record<string, unknown>;
  /** In virtual time. */
  atMs: number;
}

export interface Receiver {
  readonly url: string;
  /** By their ids, so a repetition counts once. */
  readonly notices: Map<string, Notice>;
  readonly faults: string[];
  isAway: boolean;
  refused: number;
  close(): Promise<void>;
}

export async function startReceiver(secret: string, now: () => number): Promise<Receiver> {
  const verifier = new Webhook(secret);
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (receiver.isAway) {
      receiver.refused += 1;
      return response.writeHead(503).end();
    }
    try {
      const headers = request.headers as Record<string, string>;
      // Its tolerance of five minutes is meant for real time.
      const sentAt = Number(headers["webhook-timestamp"]);
      const id = headers["webhook-id"] ?? "";
      const signature = verifier.sign(id, new Date(sentAt * 1000), body);
      if (signature !== headers["webhook-signature"]) throw new Error("the signature does not fit");
      const message = JSON.parse(body) as { type: string; data: Record<string, unknown> };
      receiver.notices.set(id, { id, ...message, atMs: now() });
    } catch (error) {
      receiver.faults.push(`notice: ${String(error)}`);
    }
    return response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notices`,
    notices: new Map(),
    faults: [],
    isAway: false,
    refused: 0,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}

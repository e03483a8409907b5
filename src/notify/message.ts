import { createHmac } from "node:crypto";
import type { NoticeType } from "../store/schema/notices.ts";

/** A notice as receivers see it. */
export interface Message {
  /** The `webhook-id`, the same in each try. */
  id: string;
  type: NoticeType;
  /** When it was noted, in ISO 8601. */
  timestamp: string;
  data: Record<string, unknown>;
}

/** The bytes of the body. They are the same in each try. */
export function bodyOf({ type, timestamp, data }: Message): string {
  return JSON.stringify({ type, timestamp, data });
}

/** The headers of one try, as Standard Webhooks has them. `sentAt` is our own clock: receivers refuse a wrong one. */
export function signedHeaders(id: string, body: string, key: Buffer, sentAt: Date): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

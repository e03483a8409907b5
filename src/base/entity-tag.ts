import { createHash } from "node:crypto";

/** The entity tag of a body: equal bodies have equal tags (RFC 9110, section 8.8.3). */
export function entityTagOf(body: Uint8Array | string): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}

/** A reply that says in one sentence why there is no other: `{"error": sentence}`. */
export function errorReply(status: number, sentence: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: sentence }, { status, headers: { "cache-control": "no-store", ...headers } });
}

/** What a 304 says of the reply that it stands for (RFC 9110, section 15.4.5). */
const KEPT = /^(?:cache-control|date|etag|expires|last-modified|vary|access-control-.*)$/;

/** The 304 in place of a reply that the client already has. It has no body, and no header that describes one. */
export function notModified(reply: Response): Response {
  const headers = [...reply.headers].filter(([name]) => KEPT.test(name));
  return new Response(null, { status: 304, headers });
}

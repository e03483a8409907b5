/** The value of a login header, for a user and a password as written in a URL. */
export function basicLogin(username: string, password: string): string {
  const credentials = `${percentDecode(username)}:${percentDecode(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

/** A password may hold a bare percent sign, which the URL keeps as it is. */
function percentDecode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

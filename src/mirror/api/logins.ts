/** The value of a login header, for the user and the password of a URL. Null where it has none. */
export function loginOf({ username, password }: URL): string | null {
  if (username === "" && password === "") return null;
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

/** Hides the logins of these URLs and headers in a text from outside: an error page may send our own request back. */
export function createLoginHider(
  urls: readonly (URL | null)[],
  headers: Readonly<Record<string, string>> = {},
): (text: string) => string {
  const secrets = urls
    .flatMap((url) => (url === null ? [] : secretsOf(url)))
    .concat(Object.entries(headers).flatMap(([name, value]) => (SECRET.test(name) ? loginsIn(value) : [])))
    // A shorter one would be found in common words.
    .filter((secret) => secret.length >= 4);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}

const SECRET = /auth|cookie|token|secret|key/i;

const loginsIn = (value: string) => [value, ...(/^\S+ +(\S.*)$/.exec(value) ?? []).slice(1)];

/** A user name without a password may be a token. */
function secretsOf(url: URL): string[] {
  const login = loginOf(url);
  if (login === null) return [];
  const secret = url.password || url.username;
  return [login.slice("Basic ".length), secret, percentDecode(secret)];
}

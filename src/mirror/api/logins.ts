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

/** A shorter one would be found in common words. */
const MIN_LENGTH = 4;

/** Hides the logins of these URLs and headers in a text from outside: an error page may send our own request back. */
export function createLoginHider(
  urls: readonly (URL | null)[],
  headers: Readonly<Record<string, string>> = {},
): (text: string) => string {
  const secrets = urls
    .flatMap((url) => (url === null ? [] : secretsOf(url)))
    .concat(Object.entries(headers).flatMap(([name, value]) => (SECRET.test(name) ? loginsIn(value) : [])))
    .filter((secret) => secret.length >= MIN_LENGTH);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}

/** Headers that hold a login, as most services name them. */
const SECRET = /auth|cookie|token|secret|key/i;

/** The value, and what is behind a scheme such as Bearer. */
function loginsIn(value: string): string[] {
  const [, behind] = /^\S+ +(\S.*)$/.exec(value) ?? [];
  return behind === undefined ? [value] : [value, behind];
}

/** A user name without a password may be a token. */
function secretsOf({ username, password }: URL): string[] {
  const [, login = ""] = basicLogin(username, password).split(" ");
  const [user = "", ...rest] = Buffer.from(login, "base64").toString("utf8").split(":");
  return username === "" && password === ""
    ? []
    : [login, ...(password === "" ? [username, user] : [password, rest.join(":")])];
}

import { basicLogin } from "./basic-login.ts";

/** A shorter one would be found in common words. */
const MIN_LENGTH = 4;

/**
 * Makes a function that replaces the logins of these URLs in a text from outside: a service or a proxy may send our
 * own request back in its error page.
 */
export function createLoginHider(urls: readonly (URL | null)[]): (text: string) => string {
  const secrets = urls
    .flatMap((url) => (url === null ? [] : secretsOf(url)))
    .filter((secret) => secret.length >= MIN_LENGTH);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}

/** A user name without a password may be a token. */
function secretsOf({ username, password }: URL): string[] {
  const [, login = ""] = basicLogin(username, password).split(" ");
  const [user = "", ...rest] = Buffer.from(login, "base64").toString("utf8").split(":");
  return username === "" && password === ""
    ? []
    : [login, ...(password === "" ? [username, user] : [password, rest.join(":")])];
}

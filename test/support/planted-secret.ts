/**
 * In every secret of the tests: passwords of databases, logins of services and proxies, keys of webhooks. No process of
 * ours may print it, and `npm test` must not either.
 */
export const PLANTED_SECRET = "zq7Xk-planted-never-to-be-shown-9v";

/** The same as a key of Standard Webhooks. */
export const PLANTED_KEY = `whsec_${Buffer.from(PLANTED_SECRET).toString("base64")}`;

const FORMS = [PLANTED_SECRET, ...[0, 1, 2].map(base64Core)];

/** How long the longest form is: so much of a stream must be kept to find one that came in two pieces. */
export const PLANTED_LENGTH = Math.max(...FORMS.map((form) => form.length));

/** What stands around the planted secret in a text, plain or in base64 as in a login header; null where it is not. */
export function findPlantedSecret(text: string): string | null {
  for (const form of FORMS) {
    const at = text.indexOf(form);
    if (at < 0) continue;
    const around = text.slice(Math.max(0, at - 200), at + form.length + 100);
    return FORMS.reduce((shown, one) => shown.replaceAll(one, "<HERE>"), around);
  }
  return null;
}

/** Throws where `text`, which `what` wrote, has the planted secret. The error does not show it. */
export function assertNoSecret(what: string, text: string): void {
  const around = findPlantedSecret(text);
  if (around !== null) throw new Error(`${what} printed a planted secret: …${around}…`);
}

/** The letters that base64 has for the secret wherever it begins: without the first and the last, which neighbours share. */
function base64Core(before: number): string {
  const all = Buffer.from("x".repeat(before) + PLANTED_SECRET)
    .toString("base64")
    .replace(/=+$/, "");
  return all.slice(before === 0 ? 0 : before + 1, -2);
}

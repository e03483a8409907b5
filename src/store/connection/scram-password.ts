/** Loads what `scramPassword` needs: its tables would slow the start of every command down. */
export const loadPasswordRules = () => import("@mongodb-js/saslprep");

/**
 * A password in the one spelling that Postgres keeps a SCRAM secret for (RFC 4013): an accent may be typed as a part of
 * its letter or after it. The driver sends passwords as they are, and would be refused.
 */
export async function scramPassword(password: string): Promise<string> {
  const { saslprep } = await loadPasswordRules();
  try {
    // Postgres takes a password as it is where the rule forbids it, and where nothing would be left of it.
    return saslprep(password) || password;
  } catch {
    return password;
  }
}

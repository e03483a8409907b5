/**
 * Hides the secrets in a URL: the password, the user name of an HTTP URL without a password (it may be a
 * token), and query parameters with names such as `token`. Works on text, so that a URL that cannot be parsed
 * is masked too.
 */
export function maskUrl(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)(.*)@/i, (_all, scheme: string, credentials: string) => {
      const colon = credentials.indexOf(":");
      if (colon >= 0) return `${scheme}${credentials.slice(0, colon)}:***@`;
      return `${scheme}${/^https?:/i.test(scheme) ? "***" : credentials}@`;
    })
    .replace(/([?&][^=&#]*(?:pass|secret|token|key)[^=&#]*=)[^&#]*/gi, "$1***");
}

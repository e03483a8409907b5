/**
 * Hides what a URL carries of secrets: the password, the lone user name of an HTTP URL (it may be a token), and query
 * parameters that are named like secrets. Works on text, so that a URL that does not parse is masked as well.
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

import { isIP } from "node:net";

/**
 * The bare name or address of a host as a URL or a `Host` header writes it: in lower case, without port,
 * brackets and a closing dot. Undefined for a text that is no host.
 */
export function readHostName(text: string): string | undefined {
  if (text === "" || /[/?#@\\\s]/.test(text)) return undefined;
  const authority = isIP(text) === 6 ? `[${text}]` : text;
  if (!URL.canParse(`http://${authority}`)) return undefined;
  const { hostname } = new URL(`http://${authority}`);
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** True where only programs of this machine reach what listens on this host. */
export function isLoopback(host: string): boolean {
  const name = readHostName(host) ?? "";
  return name === "localhost" || name === "::1" || /^127(?:\.\d+){3}$/.test(name);
}

/**
 * Hides the secrets in a URL: the password, the user name of an HTTP URL without a password (it may be a token), and query
 * parameters with names such as `token`. Works on text, so that a URL that cannot be parsed is masked too.
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

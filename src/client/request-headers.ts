type Headers = Readonly<Record<string, string>>;

/** They belong to the connection, or decide what of a body comes. */
const CONNECTION =
  /^(accept-encoding|connection|content-.*|expect|host|http2-settings|keep-alive|range|te|trailer|transfer-encoding|upgrade)$/;

/** What is wrong with headers, with the name of each and never a value: it may be a login. Empty when nothing is. */
export function headerFaults(headers: Headers = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name))
      return [`headers: ${JSON.stringify(name)} is no name of a header`];
    if (CONNECTION.test(name.toLowerCase()))
      return [`headers: ${name} cannot be set: the client sets it itself`];
    const isText = typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
    return isText ? [] : [`headers: the value of ${name} is no text that a header can hold`];
  });
}

export function lowerCased(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

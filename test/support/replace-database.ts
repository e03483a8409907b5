const URL_FORM = /^(postgres(?:ql)?:\/\/[^/?#]*)(?:\/[^?#]*)?(?:\?([^#]*))?$/;

/** The same Postgres URL with another database. Several hosts are no valid URL, so it is cut by hand. */
export function replaceDatabase(url: string, name: string): string {
  const [, upToPath, query] = URL_FORM.exec(url) ?? [];
  if (upToPath === undefined) throw new Error(`${url} is no URL of Postgres`);
  const params = new URLSearchParams(query);
  params.delete("dbname");
  return `${upToPath}/${encodeURIComponent(name)}${params.size === 0 ? "" : `?${params}`}`;
}

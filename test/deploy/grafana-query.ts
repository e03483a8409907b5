/** What Grafana makes of the SQL in a dashboard before it sends it: macros of its PostgreSQL data source, and variables. */

export interface TimeRange {
  /** ISO 8601, UTC. */
  from: string;
  to: string;
}

/** Throws for a macro or a form of variable that is not known here, and for a variable that has no value. */
export function expandQuery(
  rawSql: string,
  range: TimeRange,
  variables: Readonly<Record<string, string>>,
): string {
  const withVariables = rawSql.replace(/\$\{(\w+)(?::(\w+))?\}/g, (_, name: string, format?: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`there is no variable ${name}`);
    if (format !== "sqlstring") throw new Error(`the variable ${name} is not quoted as a string`);
    return `'${value.replaceAll("'", "''")}'`;
  });
  const expanded = withVariables
    .replace(/\$__timeFilter\(([\w.]+)\)/g, `$1 BETWEEN '${range.from}' AND '${range.to}'`)
    .replace(/\$__timeFrom\(\)/g, `'${range.from}'`)
    .replace(/\$__timeTo\(\)/g, `'${range.to}'`);
  const unknown = /\$(__\w+|\{|[a-z]\w*)/i.exec(expanded.replaceAll(/'(?:[^']|'')*'/g, "''"));
  if (unknown) throw new Error(`not known: ${unknown[0]}`);
  return expanded;
}

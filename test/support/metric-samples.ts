/** The samples of a text in the format of Prometheus, by their series as the text names them. */
export function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const at = line.lastIndexOf(" ");
    const series = line.slice(0, at);
    if (samples.has(series)) throw new Error(`${series} comes twice`);
    samples.set(series, Number(line.slice(at + 1)));
  }
  return samples;
}

/** The value of each series of a metric, by its labels without the braces; "" where it has none. */
export function seriesOf(text: string, name: string): Record<string, number> {
  const found = [...samplesOf(text)].flatMap(([series, value]) => {
    const [, of, labels = ""] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
    return of === name ? [[labels, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** The sum of all series of a metric whose labels contain `part`. */
export function sumOf(text: string, name: string, part = ""): number {
  return Object.entries(seriesOf(text, name))
    .filter(([labels]) => labels.includes(part))
    .reduce((sum, [, value]) => sum + value, 0);
}

/** One hit of the doc search (`docs/interface.md`, "Searches"). */
export interface DocHit {
  link: string;
  path: string;
  project: string;
  title: string;
  version: string;
  /** Snippets in which an HTML em element surrounds each matched word. */
  content: readonly string[];
}

export interface DocHits {
  total: number;
  /** Null when nothing was found. */
  maxScore: number | null;
  hits: readonly DocHit[];
}

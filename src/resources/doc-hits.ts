/** One hit of the doc search (`docs/interface.md`, "Searches"). */
export interface FoundDoc {
  link: string;
  path: string;
  project: string;
  title: string;
  version: string;
  /** Snippets in which an HTML em element surrounds each matched word. */
  content: readonly string[];
}

export interface FoundDocs {
  total: number;
  /** Null when nothing was found. */
  maxScore: number | null;
  hits: readonly FoundDoc[];
}

import type { FoundDocs } from "./catalog.ts";

/** The reply of the doc search in its search engine's format (`docs/interface.md`, "Searches"). */
export function docSearchReply(found: FoundDocs): Record<string, unknown> {
  return {
    results: {
      hits: {
        hits: found.hits.map((hit) => ({
          fields: {
            link: hit.link,
            path: [hit.path],
            project: [hit.project],
            title: [hit.title],
            version: [hit.version],
          },
          highlight: { content: hit.content },
        })),
        total: found.total,
        max_score: found.maxScore,
      },
    },
  };
}

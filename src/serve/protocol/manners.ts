/**
 * How a server behaves where the interface is not documented (`docs/interface.md`, "What we chose").
 */
export interface Manners {
  /** A path without its closing slash: redirected to the path with it, or answered as if it had it. */
  closingSlash: "redirect" | "optional";
  /** Whether only GET is allowed, or HEAD and OPTIONS too. */
  methods: "GET" | "GET, HEAD, OPTIONS";
  /** The fields that filter: those that the recorded schemas declare, or every documented field. */
  filters: "declared" | "every field";
  /** Whether another `format` than `json` has no effect or is refused. */
  format: "ignored" | "json only";
  /** Whether the `next` of a list that was asked for by a project's slug in its path keeps that project. */
  nextKeepsProject: boolean;
  /** Whether a key of digits that is no id is read as a slug. */
  slugsOfDigits: boolean;
  /** Whether replies have an `ETag`. */
  hasTags: boolean;
}

/** The recorded service. The simulated one behaves like it, so that the mirror meets a real server's habits. */
export const RECORDED: Manners = {
  closingSlash: "redirect",
  methods: "GET",
  filters: "declared",
  format: "ignored",
  nextKeepsProject: false,
  slugsOfDigits: false,
  hasTags: false,
};

/** The mirror. It answers all that the recorded service answers, and more where that one refuses or forgets. */
export const MIRROR: Manners = {
  closingSlash: "optional",
  methods: "GET, HEAD, OPTIONS",
  filters: "every field",
  format: "json only",
  nextKeepsProject: true,
  slugsOfDigits: true,
  hasTags: true,
};

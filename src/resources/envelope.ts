import * as z from "zod";

/**
 * One list reply (`docs/interface.md`, "Lists"). `next` and `objects` are required. Without them a reply is
 * not a page, and reading it as the last page would end a walk early. The other fields may hold anything; the
 * code that uses them checks them. U+0000 and lone surrogates in `next` become U+FFFD, because Postgres
 * stores the page and cannot hold them.
 */
export const Envelope = z.looseObject({
  meta: z.looseObject({
    limit: z.unknown().optional(),
    next: z
      .string()
      .overwrite((link) => link.replaceAll("\u0000", "\uFFFD").toWellFormed())
      .nullable(),
    offset: z.unknown().optional(),
    total_count: z.unknown().optional(),
  }),
  objects: z.array(z.unknown()),
});
export type Envelope = z.infer<typeof Envelope>;

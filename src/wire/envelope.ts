import * as z from "zod";

/**
 * One list reply (`docs/interface.md`, "Lists"). `next` and `objects` must be there: a reply without
 * them is no page, and taking it for the last one would end a walk early. The other numbers are only told, so
 * they may be anything; whoever uses them checks them. U+0000 and lone surrogates in `next` become U+FFFD: Postgres, which
 * remembers the page, cannot hold them.
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

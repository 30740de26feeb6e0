import * as z from "zod";
import { subjectIdSchema } from "../entry-id.ts";
import { HISTORY_MODES } from "../history-mode.ts";
import { limitsSchema } from "./limits-schema.ts";
import { extensibleObject, nameListSchema, timeSchema } from "./shared-fields.ts";

/** A team, a user or a tag: what its requests may use. Unknown fields are preserved. */
export const subjectEntrySchema = extensibleObject(() => ({
  id: subjectIdSchema(),
  name: z.string().default(""),
  remark: z.string().default(""),
  limits: limitsSchema.optional(),
  /** Allowed models; empty or absent: all. A key's own list limits them further. */
  models: nameListSchema().optional(),
  /** Ids of the guardrails that apply to its requests besides those for all. */
  guardrails: nameListSchema().optional(),
  /** What history and captures keep of its requests; absent: everything. */
  history: z.enum(HISTORY_MODES).optional(),
  /** Part of the cache key of its answers. An increase invalidates all answers cached before. */
  cache_epoch: timeSchema().optional(),
  /** Of teams and users: tags that their requests may name; empty or absent: all. See `request-tags.ts`. */
  allowed_tags: nameListSchema().optional(),
}));

export type SubjectEntry = z.output<typeof subjectEntrySchema>;

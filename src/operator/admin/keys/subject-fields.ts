import * as z from "zod";
import { HISTORY_MODES } from "../../../core/config/history-mode.ts";
import { cacheSettingSchema } from "../../../core/config/schemas/response-cache-schema.ts";
import { subjectEntrySchema } from "../../../core/config/schemas/subject-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { requestObject } from "../request-fields.ts";
import { usedSchema } from "./limit-use.ts";

/** Limits in a request body. A misspelt limit is an error, because it would have no effect. */
export const limitsRequestSchema = once(() =>
  requestObject(() => subjectEntrySchema.shape.limits.unwrap().shape),
);

/** The response cache of a key, a provider or a model in a request body. A misspelt field is an error. */
export const cacheRequestSchema = once(() => requestObject(() => cacheSettingSchema.shape));

/** The same in a view; empty: the next wider setting applies. */
export const cacheViewSchema = () => z.object({ ttl_seconds: z.int().optional() });

/** A team, a user or a tag as administrators see it. */
export const subjectViewSchema = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    remark: z.string(),
    limits: z.looseObject({}),
    models: z.array(z.string()),
    /** Tags that requests of its keys may name; empty: all. A tag has none. */
    allowed_tags: z.array(z.string()),
    /** Ids of the guardrails that apply to its requests besides those for all. */
    guardrails: z.array(z.string()),
    /** What history and captures keep of its requests. */
    history: z.enum(HISTORY_MODES),
    /** Number of its keys; 0 for a tag. */
    keys: z.int(),
    used: usedSchema(),
    /** Models without a price that its requests may use, if it has a budget of cost: their cost is not counted. */
    unpriced_models: z.int(),
  });
export type SubjectView = z.output<ReturnType<typeof subjectViewSchema>>;

/** Body of `POST /admin/teams` and of the same endpoints of users and tags. */
export const newSubjectSchema = requestObject(() => {
  const { cache_epoch: _, ...fields } = subjectEntrySchema.shape;
  return { ...fields, limits: limitsRequestSchema().optional() };
}, subjectViewSchema);

/** Body of `PUT /admin/teams/{id}`. Omitted fields keep their values. */
export const subjectChangeSchema = requestObject(
  () => ({
    name: z.string().optional(),
    remark: z.string().optional(),
    limits: limitsRequestSchema().optional(),
    models: subjectEntrySchema.shape.models,
    guardrails: subjectEntrySchema.shape.guardrails,
    history: subjectEntrySchema.shape.history,
    allowed_tags: subjectEntrySchema.shape.allowed_tags,
  }),
  subjectViewSchema,
);

import * as z from "zod";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import type { AuditEntry } from "../../../core/ports/audit-log.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { pageSchema, queryNumber } from "../paging.ts";

const MAX_PAGE_SIZE = 1_000;

/** A time in the query, as Unix milliseconds or ISO 8601; 0 for none. */
const timeParameter = () =>
  z
    .string()
    .default("")
    .transform((text, check) => {
      const value = /^\d*$/.test(text) ? Number(text) : Date.parse(text);
      if (Number.isFinite(value)) return value;
      check.addIssue({ code: "custom", message: "must be Unix milliseconds, or a date of ISO 8601" });
      return z.NEVER;
    });

const auditQuerySchema = lazyObject(() => ({
  page: queryNumber(1, Number.MAX_SAFE_INTEGER),
  page_size: queryNumber(50, MAX_PAGE_SIZE),
  who: z.string().default("").describe("`key`, or `token:<id>`."),
  action: z.string().default("").describe("A part of method and path."),
  q: z.string().default("").describe("Text that occurs anywhere in the entry."),
  since: timeParameter(),
  until: timeParameter(),
}));

const auditEntrySchema = () =>
  z.object({
    id: z.int(),
    /** Unix milliseconds. */
    at: z.int(),
    /** Version of the configuration after the change; 0: the action did not edit the configuration. */
    version: z.int(),
    who: z.string(),
    /** The sign-in of the session of `token:<id>`, if it is still stored. */
    session: z.object({ at: z.int(), address: z.string() }).nullable(),
    address: z.string(),
    action: z.string(),
    changes: z
      .array(
        z
          .object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })
          .readonly(),
      )
      .readonly(),
    /** Number of changes that are not listed. */
    more: z.int(),
  }) satisfies z.ZodType<AuditEntry>;

export const AUDIT_ENDPOINTS = [
  /** `GET /admin/audit`: changes by administrators, newest first. */
  adminEndpoint({
    method: "GET",
    path: "/admin/audit",
    summary: "Audit log",
    query: auditQuerySchema,
    answers: jsonResponse(() => pageSchema(auditEntrySchema())),
    handler: async ({ platform }, { query: { page_size: pageSize, ...query } }) => {
      const { items, total } = await platform.auditLog.listEntries({ ...query, pageSize });
      const total_pages = Math.ceil(total / pageSize);
      return Response.json({ items, total, page: query.page, page_size: pageSize, total_pages });
    },
  }),
] satisfies readonly Endpoint[];

import * as z from "zod";
import { lazyObject, lazyStrictObject } from "../../core/encoding/lazy-schema.ts";
import { once } from "../../core/encoding/once.ts";
import { FRESHNESS_PARAMETERS } from "./freshness.ts";
import { SETUP_PARAMETERS } from "./page-setup-parameters.ts";
import { flag, type ParameterTable, toSchemas } from "./parameter-table.ts";
import { describeUnknownName } from "./query-parameters.ts";

/*
 * The queries of the page service for the OpenAPI document. `QueryParameters` validates them; it accepts more spellings
 * than a schema can express.
 */

/** Authentication parameters: an operator's key, or those of a signed link. */
const authParameters = once(() => ({
  key: z
    .string()
    .optional()
    .describe(
      "An API key, whose limit holds instead of the public one. It may be in the header Authorization, too.",
    ),
  keyId: z.string().optional().describe("Of a signed link: the id of the signing key."),
  expires: z.int().optional().describe("Of a signed link: its expiry, Unix seconds."),
  signature: z.string().optional().describe("Of a signed link: HMAC-SHA-256 in base64url."),
}));

/** The JSON's form, which every operation reads. */
export const PRETTIFY = flag("JSON with line breaks.");

/** The schema of an operation's query. `own`: the parameters that not every operation has. */
export function createQuerySchema(own: ParameterTable): z.ZodObject {
  return lazyObject(() => ({
    ...authParameters(),
    async: z
      .boolean()
      .default(false)
      .describe("Answers 202 at once with a job, whose URL reports its progress."),
    webhook: z
      .url()
      .optional()
      .describe("Of a job: the address that receives its final state with POST. Needs an API key."),
    uploadUrl: z
      .url()
      .optional()
      .describe(
        "Of a job: the address that gets the result with PUT, such as a presigned one. Needs an API key.",
      ),
    url: z.string().min(1).describe("Address of the page; the scheme may be left out."),
    ...toSchemas({ prettify: PRETTIFY, ...SETUP_PARAMETERS, ...FRESHNESS_PARAMETERS, ...own }),
  }));
}

/**
 * Query parameters that a body does not have: `urls` replaces the address, and authentication is in the query or a
 * header.
 */
const queryOnlyNames = once(() => ["url", "async", "webhook", "uploadUrl", ...Object.keys(authParameters())]);

/** The parameters of a query as optional members of a body, with their own types and without defaults. */
function bodyMembers({ shape }: z.ZodObject): Record<string, z.ZodType> {
  const members = Object.entries(shape).filter(([name]) => !queryOnlyNames().includes(name));
  return Object.fromEntries(
    members.map(([name, field]) => [
      name,
      z.optional(field instanceof z.ZodDefault ? field.unwrap() : field),
    ]),
  );
}

/** Members of a JSON answer about a page that is incomplete. */
export const incompleteSchema = () => ({
  incomplete: z.literal(true).optional().describe("The page is incomplete."),
  incompleteReason: z
    .string()
    .optional()
    .describe("blocked_markup, load_timeout, response_cut or over_budget."),
});

/** Maximum addresses of one job. */
const MAX_URLS = 50;
const urls = () =>
  z
    .array(z.string().trim().min(1))
    .min(1)
    .max(MAX_URLS)
    .describe("Addresses of several pages, which a job loads.");

/** A body: one page, or the addresses of several. Its other members are the options, the same for each address. */
export interface PageBody {
  readonly urls?: readonly string[] | undefined;
  readonly url?: string | undefined;
  /** The page's document. */
  readonly html?: string | undefined;
  readonly markdown?: string | undefined;
  readonly webhook?: string | undefined;
  readonly uploadUrls?: readonly string[] | undefined;
  readonly [option: string]: unknown;
}

/** The body schema for the query of an operation. */
export function createBodySchema<Query extends z.ZodObject>(query: Query): z.ZodType<PageBody> {
  return lazyStrictObject(
    () => ({
      urls: urls().optional(),
      url: z.string().optional().describe("Address of one page, which is answered at once."),
      html: z.string().optional().describe("The page itself instead of an address, as HTML."),
      markdown: z.string().optional().describe("The page itself instead of an address, as Markdown."),
      webhook: z.string().optional().describe("The address that gets the job's final state with POST."),
      uploadUrls: z
        .array(z.string())
        .max(MAX_URLS)
        .optional()
        .describe("The addresses that get the results with PUT, one for each of urls."),
      ...bodyMembers(query),
    }),
    describeUnknownName,
  );
}

/** The query parameters allowed together with a body. */
export const batchQuerySchema = lazyObject(() => {
  const { key } = authParameters();
  return { key };
});

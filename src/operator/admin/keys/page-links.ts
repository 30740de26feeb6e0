import * as z from "zod";
import { assertDialectAllowed } from "../../../core/auth/access-rules.ts";
import { getKnownKeys } from "../../../core/auth/caller-keys.ts";
import { LINK_PARAMETERS, signLink } from "../../../core/auth/signed-links.ts";
import type { ApiKey } from "../../../core/config/schemas/key-schema.ts";
import { PAGES_STYLE } from "../../../core/config/styles.ts";
import { sha256Hex } from "../../../core/encoding/hash.ts";
import { once } from "../../../core/encoding/once.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { PAGE_OPERATIONS, type PageOperation } from "../../../core/ports/page-jobs.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import type { Variables } from "../../../core/variables/variables.ts";
import { requestObject } from "../request-fields.ts";
import { notFoundError } from "../resource-errors.ts";

const DAY_SECONDS = 86_400;

const parameterValueSchema = once(() => z.union([z.string(), z.number(), z.boolean()]));

/** Body of `POST /admin/page-links`. */
const linkSchema = requestObject(() => ({
  key: z.string().trim().min(1).describe("The key that the link counts for, or its id."),
  operation: z.enum(PAGE_OPERATIONS).default("thumbs"),
  query: z
    .record(z.string(), z.union([parameterValueSchema(), z.array(parameterValueSchema())]))
    .describe(
      "What is asked for: the parameters of the operation, url among them; several of one name as a list.",
    ),
  expires_in: z
    .int()
    .min(1)
    .max(3_650 * DAY_SECONDS)
    .default(30 * DAY_SECONDS)
    .describe("Seconds for which the link is valid."),
}));

const signedLinkSchema = () =>
  z.object({
    /** The absolute URL, on the host of this request. */
    url: z.string(),
    /** The same without the host. */
    path: z.string(),
    /** Unix seconds. */
    expires: z.int(),
  });

/** Throws 400 for a link that the page service would refuse every time. */
async function assertLinkWorks(
  key: ApiKey,
  operation: PageOperation,
  query: URLSearchParams,
  variables: Variables,
): Promise<void> {
  // The page service is large: only its own requests and this one load it.
  const { assertLinkQuery } = await import("../../../pages/link-check.ts");
  try {
    assertDialectAllowed(key, PAGES_STYLE);
    assertLinkQuery(operation, query, variables);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const field = error.param === null ? "key" : `query.${error.param}`;
    throw invalidRequest(`${field}: ${error.message}`, field);
  }
}

/** Signed links to the page service. A link charges a key without exposing it. */
export const PAGE_LINK_ENDPOINTS = [
  adminEndpoint({
    method: "POST",
    path: "/admin/page-links",
    summary: "Sign a link to the page service",
    body: linkSchema,
    answers: jsonResponse(signedLinkSchema),
    handler: async ({ platform, url }, { body }) => {
      const { config } = await platform.configuration.readFresh();
      const givenDigest = await sha256Hex(body.key);
      const match = [...(await getKnownKeys(config))].find(
        ([digest, { key, validUntil }]) =>
          validUntil === null && (digest === givenDigest || key.id === body.key),
      );
      if (match === undefined) throw notFoundError("the API key");
      const [digest, { key }] = match;
      for (const name of ["key", ...LINK_PARAMETERS]) {
        if (Object.hasOwn(body.query, name)) {
          throw invalidRequest(`query.${name}: the link sets this parameter itself`, `query.${name}`);
        }
      }
      if (!body.query["url"]) throw invalidRequest("query.url: is needed", "query.url");
      const query = new URLSearchParams(
        Object.entries(body.query).flatMap(([name, value]) =>
          [value].flat().map((item) => [name, String(item)]),
        ),
      );
      await assertLinkWorks(key.entry, body.operation, query, platform.variables);
      const expires = Math.floor(platform.now() / 1_000) + body.expires_in;
      query.set("keyId", key.id);
      query.set("expires", String(expires));
      const path = `/v1/${body.operation}`;
      query.set("signature", await signLink(digest, path, query));
      const link = `${path}?${query}`;
      return Response.json({ url: new URL(link, url).href, path: link, expires });
    },
  }),
] satisfies readonly Endpoint[];

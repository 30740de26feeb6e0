import type * as z from "zod";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import { getOperationPath, type PageOperation } from "../../core/ports/page-jobs.ts";
import type { PageSetup } from "../../core/ports/page-setup.ts";
import {
  type Endpoint,
  type EndpointDescription,
  jsonResponse,
  openEndpoint,
} from "../../core/routing/endpoint.ts";
import type { ServableAnswer } from "../answers/answer.ts";
import { createResponse } from "../answers/answer-response.ts";
import type { Freshness } from "../http/freshness.ts";
import { BODY_STATUSES } from "../http/openapi-descriptions.ts";
import { readPageAddressOptions } from "../http/page-address.ts";
import { type PageSource, rejectSecrets } from "../http/page-setup-parameters.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import { batchQuerySchema, createBodySchema, type PageBody } from "../http/query-schemas.ts";
import { type DeliveryParameters, readDelivery, rejectDelivery } from "../jobs/delivery-parameters.ts";
import { jobSchema } from "../jobs/job-response.ts";
import {
  createSingleTask,
  rejectBody,
  rejectQueryOptions,
  startBatch,
  startJob,
  toQuery,
  wantsJob,
} from "../jobs/start-job.ts";
import { type PageCall, withRateLimit } from "../limits/rate-limit.ts";
import type { PageWork } from "./page-work.ts";
import { hasDocument, MAX_DOCUMENT_BYTES, readDocument, toHtmlDocument } from "./sent-document.ts";

/** A parsed request of an operation. */
export interface OperationRequest {
  readonly setup: PageSetup;
  readonly freshness: Freshness;
}

/** An operation of the page service. */
export interface Operation<Request extends OperationRequest>
  extends Pick<EndpointDescription, "answers" | "headers" | "statuses"> {
  readonly name: PageOperation;
  /** One line for readers of the OpenAPI document. */
  readonly summary: string;
  readonly query: z.ZodObject;
  /** Parses a query. Throws a 400 or 403 that names the invalid parameter. */
  read(query: URLSearchParams, source: PageSource): Request;
  /**
   * Returns the answer, from the cache or from a new load.
   *
   * @param admitted rejects if the rate limit or the authorization refuses the caller
   */
  getAnswer(work: PageWork, request: Request, admitted: Promise<void>): Promise<ServableAnswer>;
}

/**
 * The endpoints of an operation: `GET` for one address, `POST` with a document as the body, and `POST` with JSON, for
 * one page or for several as a job (docs/page-contract/jobs.md).
 */
export function defineEndpoints<Request extends OperationRequest>(
  operation: Operation<Request>,
): readonly Endpoint[] {
  return [addressEndpoint(operation), documentEndpoint(operation), bodyEndpoint(operation)];
}

/** The part of the declaration that all endpoints of an operation share. */
function sharedDeclaration<Request extends OperationRequest>(operation: Operation<Request>) {
  const { name, answers, headers = {} } = operation;
  return { path: getOperationPath(name), answers, headers, accepted: jsonResponse(jobSchema) };
}

async function answerPage<Request extends OperationRequest>(
  operation: Operation<Request>,
  context: Context,
  call: PageCall,
  search: URLSearchParams,
  html?: string,
): Promise<Response> {
  const request = operation.read(search, createSource(context, call, html));
  const work = { ...context, client: call.client, signal: context.request.signal };
  const answer = await operation.getAnswer(work, request, call.admitted);
  return createResponse(context, answer, request.freshness);
}

/** `GET` with an address, which may become a job. */
function addressEndpoint<Request extends OperationRequest>(operation: Operation<Request>): Endpoint {
  const { name, summary, query, statuses = {} } = operation;
  return openEndpoint({
    ...sharedDeclaration(operation),
    method: "GET",
    summary,
    lenientQuery: query,
    statuses,
    handler: withRateLimit(async (context, call) => {
      const delivery = queryDelivery(context);
      if (!wantsJob(context)) {
        rejectDelivery(delivery);
        return answerPage(operation, context, call, call.query);
      }
      const source = createSource(context, call);
      rejectSecrets(operation.read(call.query, source).setup);
      const checked = readDelivery(delivery, 1, call.access, context.platform.variables);
      return startJob(context, call, name, [createSingleTask(call.query)], checked);
    }),
  });
}

/** `POST` with a document as the body. */
function documentEndpoint<Request extends OperationRequest>(operation: Operation<Request>): Endpoint {
  const { summary, query, statuses = {} } = operation;
  return openEndpoint({
    ...sharedDeclaration(operation),
    method: "POST",
    when: hasDocument,
    summary: `${summary}, of a document`,
    lenientQuery: query,
    streamedBody: { mediaType: "text/html", schema: { type: "string" } },
    statuses: { ...statuses, ...BODY_STATUSES },
    handler: withRateLimit(async (context, call) => {
      if (wantsJob(context))
        throw invalidRequest("A job loads addresses: a document cannot be part of it.", "async");
      rejectDelivery(queryDelivery(context));
      await call.admitted;
      return answerPage(operation, context, call, call.query, await readDocument(context));
    }),
  });
}

/** `POST` with JSON: one address or document, or several addresses as a job. */
function bodyEndpoint<Request extends OperationRequest>(operation: Operation<Request>): Endpoint {
  const { name, summary, query, statuses = {} } = operation;
  return openEndpoint<PageBody, unknown>({
    ...sharedDeclaration(operation),
    method: "POST",
    summary: `${summary}; of several pages as a job`,
    body: createBodySchema(query),
    lenientQuery: batchQuerySchema,
    maxBody: MAX_DOCUMENT_BYTES,
    statuses: { ...statuses, ...BODY_STATUSES },
    onInvalidInput: rejectBody,
    handler: (context, { body }) => {
      const { urls, url, html, markdown, webhook, uploadUrls, ...options } = body;
      if ([urls, url, html, markdown].filter((input) => input !== undefined).length !== 1) {
        const error = invalidRequest("The body needs one of url, urls, html and markdown.", "urls");
        return rejectBody(context, error);
      }
      if (urls !== undefined) {
        return startBatch(context, name, urls, options, (search, call) => {
          const source = createSource(context, call);
          rejectSecrets(operation.read(search, source).setup);
          const delivery = { webhook, uploadUrls };
          return readDelivery(delivery, urls.length, call.access, context.platform.variables);
        });
      }
      const answer = withRateLimit(async (_, call) => {
        await call.admitted;
        rejectQueryOptions(call.query);
        rejectDelivery({ webhook, uploadUrls });
        const search = toQuery(options);
        if (url !== undefined) search.set("url", url);
        return answerPage(operation, context, call, search, await readInlineDocument(body));
      });
      return answer(context);
    },
  });
}

/** The document in a body, as HTML; undefined if there is none. */
async function readInlineDocument({ html, markdown }: PageBody): Promise<string | undefined> {
  if (html !== undefined) return toHtmlDocument("html", html);
  return markdown === undefined ? undefined : toHtmlDocument("markdown", markdown);
}

/** The delivery parameters of a query. Throws a 400 if one is given twice with different values. */
function queryDelivery({ url }: Pick<Context, "url">): DeliveryParameters {
  const query = new QueryParameters(url.searchParams);
  const uploadUrl = query.text("uploadUrl");
  return { webhook: query.text("webhook"), uploadUrls: uploadUrl === null ? [] : [uploadUrl] };
}

function createSource({ platform }: Context, { access }: PageCall, html?: string): PageSource {
  return { ...readPageAddressOptions(platform.variables), access, ...(html !== undefined && { html }) };
}

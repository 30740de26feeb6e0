import { authenticateCaller } from "../../auth/callers.ts";
import { isObject } from "../../encoding/json.ts";
import { routeNotFound } from "../../errors/gateway-error.ts";
import { answer } from "../../generation/answer.ts";
import { parseWith, readJson } from "../../http/json-body.ts";
import type { Context, Handler } from "../../platform/context.ts";
import { countPromptTokens } from "../shared/count.ts";
import { contentRequestSchema, toConversation } from "./request.ts";
import { toContentResponse } from "./response.ts";
import { ContentStream } from "./stream.ts";

/** `{model}:{action}`, split at the last colon: names of tuned models may hold colons themselves. */
export function splitAction(path: string): { model: string; action: string } {
  const colon = path.lastIndexOf(":");
  return colon < 0
    ? { model: path, action: "" }
    : { model: path.slice(0, colon), action: path.slice(colon + 1) };
}

async function generate(context: Context, model: string, stream: boolean): Promise<Response> {
  const caller = await authenticateCaller(context);
  const body = parseWith(contentRequestSchema, await readJson(context.request));
  const { config } = await context.config();
  return answer(context, caller, toConversation(body, model, stream, config.model_aliases), {
    stream: (info) => new ContentStream(info),
    body: toContentResponse,
  });
}

/** `:countTokens`: `contents`, or a whole request under `generateContentRequest`. */
async function countTokens(context: Context, model: string): Promise<Response> {
  await authenticateCaller(context);
  const body = await readJson(context.request);
  const wrapped = isObject(body)
    ? (body["generateContentRequest"] ?? body["generate_content_request"])
    : null;
  const request = parseWith(contentRequestSchema, wrapped ?? body);
  const { config } = await context.config();
  const conversation = toConversation(request, model, false, config.model_aliases);
  return Response.json({ totalTokens: await countPromptTokens(context, conversation) });
}

/** `POST /v1beta/models/{model}:{action}` and the same under `/v1` (contract). */
export const contentAction: Handler = (context) => {
  const { model, action } = splitAction(context.params["id"] ?? "");
  switch (action) {
    case "generateContent":
      return generate(context, model, false);
    case "streamGenerateContent":
      return generate(context, model, true);
    case "countTokens":
      return countTokens(context, model);
    default:
      throw routeNotFound(context.request.method, context.url.pathname);
  }
};

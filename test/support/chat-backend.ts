import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { serve } from "./local-server.ts";

/** A chat completion that the backend received. */
export interface CompletionRequest {
  readonly model: string;
  readonly key: string;
  readonly headers: IncomingMessage["headers"];
}

/** A chat-completions backend in this process, with its own models. */
export interface ChatBackend {
  /** Ends with `/v1`. */
  readonly url: string;
  /** Received completions, oldest first. */
  readonly asked: readonly CompletionRequest[];
  close(): Promise<void>;
}

/** Options of a backend. */
export interface ChatBackendOptions {
  /** Names of its models. Other models are a 404; so is the model list if this is empty. */
  readonly models: readonly string[];
  /** What the model list states of each model beside its name. */
  readonly stated?: Readonly<Record<string, object>>;
  /** Text of its answers. */
  readonly says: string;
  /** Status with which it rejects completions; absent: it answers them. */
  readonly refuses?: number;
  /** How long its answers take, milliseconds. */
  readonly delayMs?: number;
  /** JSON text of the `usage` in answers of a model; default: 3 and 2 tokens. */
  readonly usageOf?: (model: string) => string;
}

const USAGE = JSON.stringify({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });

/** Longer than a test file takes. */
const KEEP_ALIVE_MS = 600_000;

/** Starts a backend on a free port. */
export async function startChatBackend(options: ChatBackendOptions): Promise<ChatBackend> {
  const asked: CompletionRequest[] = [];
  const { origin, server, close } = await serve((request, response) =>
    answer(request, response, options, asked),
  );
  // A busy gateway may use a connection just when the server closes it, and a POST is not sent twice.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return {
    url: `${origin}/v1`,
    asked,
    close,
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { models, stated = {}, says, refuses, delayMs, usageOf = () => USAGE }: ChatBackendOptions,
  asked: CompletionRequest[],
): Promise<void> {
  let text = "";
  for await (const piece of request) text += piece;
  const json = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.url === "/v1/models" && models.length > 0) {
    return json(200, { object: "list", data: models.map((id) => ({ id, object: "model", ...stated[id] })) });
  }
  if (request.url !== "/v1/chat/completions")
    return json(404, { error: { message: "There is no such thing." } });
  const { model, stream } = JSON.parse(text);
  const key = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
  asked.push({ model, key, headers: request.headers });
  if (delayMs !== undefined) await setTimeout(delayMs);
  if (refuses !== undefined) return json(refuses, { error: { message: "Not now.", type: "server_error" } });
  if (!models.includes(model)) {
    return json(404, { error: { message: `The model ${model} does not exist.`, code: "model_not_found" } });
  }
  // JSON can contain numbers that `JSON.stringify` never writes, such as 2e308.
  const withUsage = (body: object) => `${JSON.stringify(body).slice(0, -1)},"usage":${usageOf(model)}}`;
  if (stream !== true) {
    const choices = [{ index: 0, message: { role: "assistant", content: says }, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(withUsage({ id: "c", object: "chat.completion", created: 1, model, choices }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: "c", model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const end = `data: ${withUsage({ id: "c", model, choices: [] })}\n\ndata: [DONE]\n\n`;
  response.end(chunk({ role: "assistant", content: says }, null) + chunk({}, "stop") + end);
}

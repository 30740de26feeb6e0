import { openaiDriver } from "../../../../../src/gateway/providers/openai/driver.ts";
import { keyed } from "../keyed.ts";

export { text, user, WEATHER } from "../support.ts";

export const ANSWER =
  'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

export const { provider, answering, request, answer } = keyed({
  driver: openaiDriver,
  baseUrl: "http://engine.example/v1/",
  path: "/chat/completions",
  answer: ANSWER,
});

import { openaiResponsesDriver } from "../../../../../src/gateway/providers/openai-responses/driver.ts";
import { keyed } from "../keyed.ts";
import { capturedAnswers } from "../support.ts";

export { text, user, WEATHER } from "../support.ts";

export const { stream, whole } = capturedAnswers("openai-responses");

export const { provider, answering, request, answer } = keyed({
  driver: openaiResponsesDriver,
  baseUrl: "http://engine.example/v1/",
  path: "/responses",
  answer: stream("text"),
});

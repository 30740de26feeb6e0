import { anthropicDriver } from "../../../../../src/gateway/providers/anthropic/driver.ts";
import { keyed } from "../keyed.ts";
import { capturedAnswers } from "../support.ts";

export { text, user, WEATHER } from "../support.ts";

export const { stream } = capturedAnswers("anthropic");

export const { provider, answering, request, answer } = keyed({
  driver: anthropicDriver,
  baseUrl: "http://engine.example/",
  path: "/v1/messages",
  answer: stream("text"),
});

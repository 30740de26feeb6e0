import { geminiDriver } from "../../../../../src/gateway/providers/gemini/driver.ts";
import { keyed } from "../keyed.ts";
import { capturedAnswers } from "../support.ts";

export { text, user, WEATHER } from "../support.ts";

export const { stream, whole } = capturedAnswers("gemini");

/** Where a streamed answer is asked for. */
export const STREAMED = ":streamGenerateContent?alt=sse";

export const { provider, answering, request, answer } = keyed({
  driver: geminiDriver,
  baseUrl: "http://engine.example/",
  path: STREAMED,
  answer: stream("text"),
});

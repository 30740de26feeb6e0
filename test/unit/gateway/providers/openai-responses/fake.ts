import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openaiResponsesDriver } from "../../../../../src/gateway/providers/openai-responses/driver.ts";
import { keyed } from "../keyed.ts";

export { text, user, WEATHER } from "../support.ts";

const FOLDER = join(import.meta.dirname, "../../../../fixtures/streams/openai-responses");

/** A captured stream. */
export const stream = (name: string): string => readFileSync(join(FOLDER, `${name}.sse`), "utf8");

/** A captured answer in one piece. */
export const whole = (name: string): string => readFileSync(join(FOLDER, `${name}.whole.json`), "utf8");

/** One event of a stream. */
export const event = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

export const { provider, answering, request } = keyed({
  driver: openaiResponsesDriver,
  baseUrl: "http://engine.example/v1/",
  path: "/responses",
  answer: stream("text"),
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anthropicDriver } from "../../../../../src/gateway/providers/anthropic/driver.ts";
import { keyed } from "../keyed.ts";

export { text, user, WEATHER } from "../support.ts";

const FOLDER = join(import.meta.dirname, "../../../../fixtures/streams/anthropic");

/** A captured stream. */
export const stream = (name: string): string => readFileSync(join(FOLDER, `${name}.sse`), "utf8");

/** One event of a stream. */
export const event = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

export const { provider, answering, request } = keyed({
  driver: anthropicDriver,
  baseUrl: "http://engine.example/",
  path: "/v1/messages",
  answer: stream("text"),
});

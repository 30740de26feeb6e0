import { readFileSync } from "node:fs";
import { join } from "node:path";
import { geminiDriver } from "../../../../../src/gateway/providers/gemini/driver.ts";
import { keyed } from "../keyed.ts";

export { text, user, WEATHER } from "../support.ts";

const FOLDER = join(import.meta.dirname, "../../../../fixtures/streams/gemini");

/** A captured stream. */
export const stream = (name: string): string => readFileSync(join(FOLDER, `${name}.sse`), "utf8");

/** A captured answer in one piece. */
export const whole = (name: string): string => readFileSync(join(FOLDER, `${name}.whole.json`), "utf8");

/** Where a streamed answer is asked for. */
export const STREAMED = ":streamGenerateContent?alt=sse";

export const { provider, answering, request } = keyed({
  driver: geminiDriver,
  baseUrl: "http://engine.example/",
  path: STREAMED,
  answer: stream("text"),
});

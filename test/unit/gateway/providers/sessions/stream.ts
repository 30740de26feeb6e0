import { SessionTurnDecoder } from "../../../../../src/gateway/providers/sessions/decoder.ts";
import { type DecoderFactory, runWith, SECRET } from "../support.ts";

export const createDecoder: DecoderFactory = () => new SessionTurnDecoder(SECRET);

export const run = runWith(createDecoder);

export const event = (name: string, data: unknown): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
export const FINISH = event("finish", { reason: "stop" });

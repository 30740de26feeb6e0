import { EventSourceParserStream } from "eventsource-parser/stream";

/** One event of a stream. */
export interface StreamEvent {
  /** Name of the event; empty if it has none. */
  readonly event: string;
  readonly data: string;
}

/** Reads the events of a streamed response; null if the response is not a stream. */
export function readStreamEvents({ headers, body }: Response): AsyncIterable<StreamEvent> | null {
  if (body === null) return null;
  switch (headers.get("content-type")?.split(";")[0]?.trim()) {
    case "text/event-stream":
      return readSseEvents(body);
    case "application/x-ndjson":
      return readJsonLines(body);
    default:
      return null;
  }
}

async function* readSseEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of readChunks(events)) yield { event: event ?? "", data };
}

async function* readJsonLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  let rest = "";
  for await (const text of readChunks(body.pipeThrough(new TextDecoderStream()))) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.flatMap(lineEvent);
  }
  yield* lineEvent(rest);
}

/** White space is not an event. It only keeps the connection alive. */
function lineEvent(line: string): StreamEvent[] {
  const data = line.trim();
  return data === "" ? [] : [{ event: "", data }];
}

/** Iterates over a stream. Some supported browsers have no async iterator for streams. */
async function* readChunks<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

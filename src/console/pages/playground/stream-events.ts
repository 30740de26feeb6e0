import { EventSourceParserStream } from "eventsource-parser/stream";

/** One event of a stream. */
export interface StreamEvent {
  /** The event's name; empty when it has none. */
  readonly event: string;
  readonly data: string;
}

/** The events of an answer that is a stream, as they come; null for an answer in one piece. */
export function streamEvents({ headers, body }: Response): AsyncIterable<StreamEvent> | null {
  if (body === null) return null;
  switch (headers.get("content-type")?.split(";")[0]?.trim()) {
    case "text/event-stream":
      return sentEvents(body);
    case "application/x-ndjson":
      return jsonLines(body);
    default:
      return null;
  }
}

async function* sentEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of chunks(events)) yield { event: event ?? "", data };
}

async function* jsonLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  let rest = "";
  for await (const text of chunks(body.pipeThrough(new TextDecoderStream()))) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.flatMap(lineEvent);
  }
  yield* lineEvent(rest);
}

/** White space is no event: it only keeps the connection alive. */
function lineEvent(line: string): StreamEvent[] {
  const data = line.trim();
  return data === "" ? [] : [{ event: "", data }];
}

/** What a stream gives: not every browser that we support iterates over one by itself. */
async function* chunks<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

import { describe, expect, it } from "vitest";
import { readStreamEvents } from "../../../../../src/operator/console/pages/playground/stream-events.ts";

/** An answer whose body comes in these pieces. */
function answer(type: string, pieces: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": type } });
}

/** Its events, or null when it is no stream. */
async function read(response: Response) {
  const events = readStreamEvents(response);
  if (events === null) return null;
  const all = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("the events of an answer", () => {
  it("are those of an event stream, for any split of the bytes", async () => {
    const pieces = ["event: a\ndata: {", '"x":1}\n\n', 'data: {"x":2}\n', "\n"];
    expect(await read(answer("text/event-stream; charset=utf-8", pieces))).toMatchObject([
      { event: "a", data: '{"x":1}' },
      { event: "", data: '{"x":2}' },
    ]);
  });

  it("are the lines of a stream of JSON lines, for any split of the bytes", async () => {
    const pieces = [' {"x":', '1}\n{"x":2}\n \n{"', 'x":3}\n', '{"x":4}'];
    expect(await read(answer("application/x-ndjson", pieces))).toEqual(
      [1, 2, 3, 4].map((x) => ({ event: "", data: `{"x":${x}}` })),
    );
  });

  it("do not exist in an answer in one piece, which is still unread", async () => {
    const whole = answer("application/json", ['{"x":1}']);
    expect(await read(whole)).toBeNull();
    expect(await whole.json()).toEqual({ x: 1 });
    expect(await read(new Response(null))).toBeNull();
  });
});

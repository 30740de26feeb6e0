import type { Format, Step } from "./steps.ts";

/** Functions of the runtime that a stream needs. */
export interface StreamRuntime {
  /** Resolves after `ms` milliseconds; rejects if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Called once when the stream ends, for any reason. */
  closed(): void | Promise<void>;
}

/** Maximum silence of a hanging stream in milliseconds; longer than any client should wait. */
const MAX_HANG_MS = 300_000;

/**
 * Writes steps as a server-sent event stream. `done` settles when the stream ends and never rejects. If the runtime ends
 * work with the request, pass `done` to `waitUntil`.
 */
export function playSteps(
  steps: readonly Step[],
  format: Format,
  departed: AbortSignal,
  surroundings: StreamRuntime,
): { body: ReadableStream<Uint8Array>; done: Promise<void> } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  departed.addEventListener("abort", leave, { once: true });
  writer.closed.then(leave, leave);

  const play = async (): Promise<void> => {
    for (const step of steps) {
      if (gone.signal.aborted) break;
      if (step.kind === "wait") await surroundings.sleep(step.ms, gone.signal);
      else if (step.kind === "hang") await surroundings.sleep(MAX_HANG_MS, gone.signal);
      else if (step.kind === "reset") await breakConnection(surroundings, gone.signal);
      else for (const bytes of writes(step, format)) await writer.write(bytes);
    }
    await writer.close();
  };

  const done = play()
    .catch((error: unknown) => writer.abort(error).catch(() => {}))
    .finally(() => departed.removeEventListener("abort", leave))
    .then(() => surroundings.closed());
  return { body: readable, done };
}

/** Breaking a stream drops queued data, so the reader gets 20 ms to read it first. */
async function breakConnection(surroundings: StreamRuntime, gone: AbortSignal): Promise<never> {
  await surroundings.sleep(20, gone);
  throw new Error("The sandbox was asked to break the connection.");
}

const encoder = new TextEncoder();

function* writes(step: Step & { kind: "event" | "raw" }, format: Format): Generator<Uint8Array> {
  const bytes = encoder.encode(step.kind === "raw" ? step.text : writeEvent(step, format));
  const size = format.bytes > 0 ? format.bytes : bytes.length;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function writeEvent(step: Step & { kind: "event" }, format: Format): string {
  const data = format.multiline ? JSON.stringify(JSON.parse(step.data), null, 1) : step.data;
  const lines = [
    ...(format.comments ? [": keep-alive", "id: 7", "retry: 1000", "unknown: field"] : []),
    `event: ${step.event}`,
    ...data.split("\n").map((line) => `data: ${line}`),
  ];
  const end = format.crlf ? "\r\n" : "\n";
  return `${lines.join(end)}${end}${end}`;
}

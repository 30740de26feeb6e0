import { z } from "zod";

/** What an answer comes to in any dialect, streamed or not: two answers are the same when these are equal. */
export interface CanonicalCompletion {
  readonly text: string;
  /** What the model refuses with, in the styles that tell that from a text. */
  readonly refusal?: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  /** Null when the answer ended in an error. */
  readonly finish: "stop" | "tool_calls" | "length" | "content_filter" | null;
  /** Null when the answer ended in an error, and in a stream whose style states counts only if asked to. */
  readonly usage: { readonly prompt: number; readonly completion: number } | null;
  /** The message of the error that the stream ended with. */
  readonly error: string | null;
}

/** A stream that holds to its dialect's rules, taken apart. */
export interface ValidStream {
  /** The JSON of each item, in order; keep-alives are left out. */
  readonly events: readonly Record<string, unknown>[];
  readonly completion: CanonicalCompletion;
}

/** A JSON object of any members. */
export const anyObject = z.record(z.string(), z.unknown());

/** Fails with what is wrong and where. */
export function rule(holds: boolean, what: string, where: unknown = ""): asserts holds {
  if (!holds) throw new Error(`${what}${where === "" ? "" : `: ${JSON.stringify(where).slice(0, 300)}`}`);
}

/** An answer that ended by itself ends with its calls, if it made any. */
export function endsAsCalled(finish: CanonicalCompletion["finish"], calls: number): void {
  rule(finish !== "tool_calls" || calls > 0, "it ends with tool_calls, but without a call");
  rule(finish !== "stop" || calls === 0, "it made calls, but ends as if it had not");
}

/** Whether an answer was cut off, so that its last call may be a fragment. */
export function wasCut(finish: CanonicalCompletion["finish"]): boolean {
  return finish === "length" || finish === "content_filter";
}

/** The arguments of a call that may be a fragment; null if they are one. */
export function wholeArguments(text: string): Record<string, unknown> | null {
  rule(text.startsWith("{"), "arguments begin with {", text);
  try {
    return anyObject.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Reads a tool call's arguments, which must be one JSON object. */
export function argumentsOf(text: string): Record<string, unknown> {
  rule(text.startsWith("{"), "arguments begin with {", text);
  return anyObject.parse(JSON.parse(text));
}

/** One item of an event stream. */
export interface StreamItem {
  readonly event: string | null;
  readonly data: string;
}

/**
 * Takes an event stream apart: items of at most one `event:` and exactly one `data:` line, each followed by an empty line.
 * Comments and additional empty lines, which keep a silent stream alive, are left out and counted.
 */
export function itemsOf(text: string): {
  items: StreamItem[];
  keepAlives: { comments: number; blank: number };
} {
  rule(text.endsWith("\n\n"), "an event stream ends with an empty line", text.slice(-80));
  const items: StreamItem[] = [];
  const keepAlives = { comments: 0, blank: 0 };
  let event: string | null = null;
  let data: string | null = null;
  let comment = false;
  for (const line of text.split("\n").slice(0, -1)) {
    if (line === "") {
      if (data !== null) items.push({ event, data });
      else {
        rule(event === null, "an item has data", event);
        if (comment) keepAlives.comments += 1;
        else keepAlives.blank += 1;
      }
      event = null;
      data = null;
      comment = false;
    } else if (line.startsWith(":")) {
      rule(event === null && data === null, "a comment stands alone", line);
      comment = true;
    } else if (line.startsWith("event: ")) {
      rule(event === null && data === null, "one event line an item, before its data", line);
      event = line.slice(7);
    } else {
      rule(line.startsWith("data: "), "a line is an event, data or a comment", line);
      rule(data === null, "one data line an item", line);
      data = line.slice(6);
    }
  }
  return { items, keepAlives };
}

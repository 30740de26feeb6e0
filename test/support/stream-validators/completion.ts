import { z } from "zod";

/** Canonical form of an answer in any dialect, streamed or not. Equal answers have equal canonical forms. */
export interface CanonicalCompletion {
  readonly text: string;
  /** Text of a refusal, in styles that separate it from other text. */
  readonly refusal?: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  /** null: the answer ended with an error. */
  readonly finish: "stop" | "tool_calls" | "length" | "content_filter" | null;
  /** null: the answer ended with an error, or the style streams usage only on request. */
  readonly usage: { readonly prompt: number; readonly completion: number } | null;
  /** Message of the error that ended the stream. */
  readonly error: string | null;
}

/** A valid stream, parsed. */
export interface ValidStream {
  /** The JSON of each item in order, without keep-alives. */
  readonly events: readonly Record<string, unknown>[];
  readonly completion: CanonicalCompletion;
}

/** A JSON object with any members. */
export const anyObject = z.record(z.string(), z.unknown());

/** Throws with the violated rule and its location. */
export function rule(holds: boolean, what: string, where: unknown = ""): asserts holds {
  if (!holds) throw new Error(`${what}${where === "" ? "" : `: ${JSON.stringify(where).slice(0, 300)}`}`);
}

/** An answer with calls must end with `tool_calls`; an answer without calls must not. */
export function endsAsCalled(finish: CanonicalCompletion["finish"], calls: number): void {
  rule(finish !== "tool_calls" || calls > 0, "it ends with tool_calls, but without a call");
  rule(finish !== "stop" || calls === 0, "it made calls, but ends as if it had not");
}

/** Whether an answer was cut off, so that its last call may be a fragment. */
export function wasCut(finish: CanonicalCompletion["finish"]): boolean {
  return finish === "length" || finish === "content_filter";
}

/** Parses arguments that may be a fragment; null if they are one. */
export function wholeArguments(text: string): Record<string, unknown> | null {
  rule(text.startsWith("{"), "arguments begin with {", text);
  try {
    return anyObject.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Parses a tool call's arguments, which must be one JSON object. */
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
 * Parses an event stream: each item has at most one `event:` line and exactly one `data:` line, followed by an empty line.
 * Omits and counts comments and additional empty lines, which keep an idle stream alive.
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

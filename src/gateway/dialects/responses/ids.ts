import { randomId } from "../../../core/conversation/ids.ts";

const ITEM_ID = /^[a-z]{2,4}_([0-9a-f]{24})_(i?)(\d{1,6})$/;

/** Prefixes of the ids of input items, by item type. */
const INPUT_PREFIXES: ReadonlyMap<string, string> = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["custom_tool_call", "ctc"],
  ["function_call_output", "fco"],
  ["custom_tool_call_output", "ctco"],
]);

/** Prefixes of the ids of output items: message, reasoning, function call, call of a free-text tool, web search. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "ws";

/** Creates a response id, `resp_<id>` (docs/contract/answers.md, Stored response). */
export function newResponseId(): string {
  return randomId("resp_");
}

/**
 * Returns the id of the output item at `index`. It contains the response's id, so a reference to the item can be resolved.
 */
export function createItemId(prefix: ItemPrefix, responseId: string, index: number): string {
  return `${prefix}_${responseId.slice("resp_".length)}_${index}`;
}

/** Returns an id for an input item that has none. `index` is the item's position in its request. */
export function createInputItemId(type: string, responseId: string, index: number): string {
  return `${INPUT_PREFIXES.get(type) ?? "item"}_${responseId.slice("resp_".length)}_i${index}`;
}

/** The location of a stored item. */
export interface ItemLocation {
  readonly responseId: string;
  /** Whether the item belongs to the input of the response, not to its output. */
  readonly isInput: boolean;
}

/** Returns the location of the item with this id, or null if the gateway did not create the id. */
export function parseItemId(id: string): ItemLocation | null {
  const match = ITEM_ID.exec(id);
  return match === null ? null : { responseId: `resp_${match[1]}`, isInput: match[2] === "i" };
}

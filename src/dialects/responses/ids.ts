import { randomId } from "../../conversation/ids.ts";

const ITEM_ID = /^[a-z]{2,4}_([0-9a-f]{24})_(i?)(\d{1,6})$/;

/** The prefixes of the ids of input items, by type. */
const INPUT_PREFIXES: ReadonlyMap<string, string> = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["custom_tool_call", "ctc"],
  ["function_call_output", "fco"],
  ["custom_tool_call_output", "ctco"],
]);

/** The prefixes of item ids: message, reasoning, function call, free-text call. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc";

/** A new response id, `resp_<id>` (contract, Stored response). */
export function newResponseId(): string {
  return randomId("resp_");
}

/** The id of the output item at `index`. It says where the item is kept, so that a reference to it can be followed. */
export function itemId(prefix: ItemPrefix, responseId: string, index: number): string {
  return `${prefix}_${responseId.slice("resp_".length)}_${index}`;
}

/** The id of an input item that came without one; `index` counts the items of its request. */
export function inputItemId(type: string, responseId: string, index: number): string {
  return `${INPUT_PREFIXES.get(type) ?? "item"}_${responseId.slice("resp_".length)}_i${index}`;
}

/** The response that keeps an item. */
export interface ItemAddress {
  readonly responseId: string;
  /** Whether the item is one of its input, not of its output. */
  readonly input: boolean;
}

/** Where the item with this id is kept, or null when the id is not of our making. */
export function itemAddress(id: string): ItemAddress | null {
  const match = ITEM_ID.exec(id);
  return match === null ? null : { responseId: `resp_${match[1]}`, input: match[2] === "i" };
}

import { randomId } from "../../conversation/ids.ts";

const ITEM_ID = /^(?:msg|rs|fc|ctc)_([0-9a-f]{24})_(\d{1,6})$/;

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

/** Where the item with this id is kept, or null when the id is not of our making. */
export function itemAddress(id: string): { readonly responseId: string; readonly index: number } | null {
  const match = ITEM_ID.exec(id);
  return match === null ? null : { responseId: `resp_${match[1]}`, index: Number(match[2]) };
}

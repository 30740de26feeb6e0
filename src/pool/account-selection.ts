import { hashText, rendezvousCost } from "../core/encoding/text-hash.ts";
import type { AccountSelection } from "../core/ports/accounts.ts";
import type { AccountState } from "./account-state.ts";
import { type PickAccount, pickNext } from "./rotation.ts";

/** Creates a pick of the account with the lowest cost; among equals, of the one whose turn it is. */
function pickLowest(cost: (state: AccountState) => number): PickAccount {
  return (accounts) => {
    let lowest: AccountState | null = null;
    let lowestCost = Number.POSITIVE_INFINITY;
    for (const state of accounts) {
      const current = cost(state);
      if (lowest !== null && current >= lowestCost) continue;
      lowest = state;
      lowestCost = current;
    }
    return lowest;
  };
}

const weightOf = ({ account }: AccountState): number => account?.weight ?? 1;

const pickLeastBusy = pickLowest((state) => state.occupiedSlots / weightOf(state));
const pickFirst = pickLowest(({ position }) => position);

/**
 * The account that all shards and isolates select for a conversation among the same accounts, without talking to each other
 * (weighted rendezvous hashing).
 */
export function pickByConversation(conversation: string): PickAccount {
  const key = hashText(conversation);
  return pickLowest((state) => rendezvousCost(key, state.hash, weightOf(state)));
}

/** How the account of a request is picked among those that are ready. */
export function createPick(selection: AccountSelection | undefined): PickAccount {
  switch (selection?.strategy) {
    case "least_busy":
      return pickLeastBusy;
    case "fill_first":
      return pickFirst;
    case "affinity":
      return selection.conversation === undefined ? pickNext : pickByConversation(selection.conversation);
    default:
      return pickNext;
  }
}

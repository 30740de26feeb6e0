import { findLowest, findNode } from "../../core/encoding/text-hash.ts";
import type { AccountSelection } from "../../core/ports/accounts.ts";
import type { AccountState } from "../accounts/account-state.ts";
import { type PickAccount, pickNext } from "./rotation.ts";

const weightOf = ({ account }: AccountState): number => account?.weight ?? 1;

/** Among equals, the account whose turn it is. */
const pickLeastBusy: PickAccount = (accounts) =>
  findLowest(accounts, (state) => state.occupiedSlots / weightOf(state));
const pickFirst: PickAccount = (accounts) => findLowest(accounts, ({ position }) => position);

/** The account that all shards and isolates select for a conversation among the same accounts. */
export const pickByConversation =
  (conversation: string): PickAccount =>
  (accounts) =>
    findNode(conversation, accounts, ({ hash }) => hash, weightOf);

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

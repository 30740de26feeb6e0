import { RecentMap } from "../../core/encoding/recent-map.ts";
import type { AccountSelection } from "../../core/ports/accounts.ts";
import { HOUR_MS } from "../../core/units.ts";
import type { AccountState } from "../accounts/account-state.ts";
import { pickByConversation } from "./account-selection.ts";

/**
 * How long the account of a conversation is remembered after its last request, milliseconds:
 * as long as prompt caches live.
 */
export const CONVERSATION_TTL_MS = HOUR_MS;
/** Most conversations remembered that are not at their first account. */
const MAX_MOVED = 50_000;

/**
 * The accounts of one provider's conversations: a conversation stays with its account, because the provider has its prompts
 * in a cache there. Its first account is computed from its key. If that one cannot serve a turn, the conversation moves once
 * and stays there.
 */
export class ConversationAffinity {
  /** The enabled accounts by id. */
  accounts: ReadonlyMap<string, AccountState> = new Map();
  /** The accounts of the conversations that have moved. */
  readonly #moved = new RecentMap<string>(MAX_MOVED, CONVERSATION_TTL_MS);
  /** Number of running requests by conversation. */
  readonly #running = new Map<string, number>();

  /** The account of a conversation. Null: the request belongs to none, or no account is enabled. */
  findConversationAccount(selection: AccountSelection | undefined, now: number): AccountState | null {
    if (selection?.strategy !== "affinity" || selection.conversation === undefined) return null;
    const { conversation, lastAccount = "" } = selection;
    const moved = this.accounts.get(this.#moved.get(conversation, now) ?? lastAccount);
    return moved ?? pickByConversation(conversation)(this.accounts.values());
  }

  /** Whether a request of the conversation runs. */
  isRunning(conversation: string): boolean {
    return this.#running.has(conversation);
  }

  /**
   * Records that a request of a conversation got an account. Returns whether it is a branch: it runs in parallel to another
   * request of its conversation whose account is only busy, so the conversation stays there.
   */
  recordGrant(selection: AccountSelection, state: AccountState, now: number): boolean {
    const { conversation } = selection;
    if (selection.strategy !== "affinity" || conversation === undefined) return false;
    const account = this.findConversationAccount(selection, now);
    const running = this.#running.get(conversation) ?? 0;
    this.#running.set(conversation, running + 1);
    if (running > 0 && account !== null && account !== state && account.isHealthy) return true;
    const hasMoved = account !== state || selection.lastAccount !== undefined;
    if (hasMoved || this.#moved.get(conversation, now) !== undefined)
      this.#moved.set(conversation, state.id, now);
    return false;
  }

  /** Records that a request of a conversation has ended. Empty: it belonged to none. */
  recordEnd(conversation: string): void {
    if (conversation === "") return;
    const running = (this.#running.get(conversation) ?? 1) - 1;
    if (running > 0) this.#running.set(conversation, running);
    else this.#running.delete(conversation);
  }
}

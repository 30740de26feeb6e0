import { LinkedList, type ListNode } from "../structures/linked-list.ts";

/** The collection that contains a fair share. */
export interface FairShareOwner<Waiter extends ListNode<Waiter>> {
  /** Deletes a share that has become empty. */
  deleteIfEmpty(share: FairShare<Waiter>): void;
}

/** The slots and waiting requests of one caller. */
export class FairShare<Waiter extends ListNode<Waiter>> {
  readonly caller: string;
  readonly owner: FairShareOwner<Waiter>;
  /** Slots that the caller occupies. */
  occupiedSlots = 0;
  /** Serial number of the newest lease; 0: none since the caller last held or requested a slot. */
  lastServedSerial = 0;
  /** All its waiting requests, in order of arrival. */
  readonly waiters = new Set<Waiter>();
  /** Its waiting requests that can use any account, in order of arrival. */
  readonly untargetedWaiters = new LinkedList<Waiter>();

  constructor(caller: string, owner: FairShareOwner<Waiter>) {
    this.caller = caller;
    this.owner = owner;
  }
}

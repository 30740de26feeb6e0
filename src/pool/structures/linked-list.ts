/** A node that is in at most one {@link LinkedList} at a time and references that list. */
export abstract class ListNode<T extends ListNode<T>> {
  list: LinkedList<T> | null = null;
  previous: T | null = null;
  next: T | null = null;
}

/**
 * An intrusive doubly linked list. Adding and removing a node takes constant time and allocates nothing, so the cost of a
 * request does not grow with the number of accounts, leases or waiting requests.
 */
export class LinkedList<T extends ListNode<T>> {
  head: T | null = null;
  tail: T | null = null;
  size = 0;

  /** Appends `node`; removes it from its previous list first. */
  push(node: T): void {
    node.list?.remove(node);
    node.list = this;
    node.previous = this.tail;
    if (this.tail === null) this.head = node;
    else this.tail.next = node;
    this.tail = node;
    this.size += 1;
  }

  /** Prepends `node`; removes it from its previous list first. */
  unshift(node: T): void {
    node.list?.remove(node);
    node.list = this;
    node.next = this.head;
    if (this.head === null) this.tail = node;
    else this.head.previous = node;
    this.head = node;
    this.size += 1;
  }

  /** Inserts `node` before `next`, which is in this list; removes it from its previous list first. */
  insertBefore(node: T, next: T): void {
    const { previous } = next;
    if (previous === null) {
      this.unshift(node);
      return;
    }
    node.list?.remove(node);
    node.list = this;
    node.previous = previous;
    node.next = next;
    previous.next = node;
    next.previous = node;
    this.size += 1;
  }

  /** Removes `node`; does nothing when it is not in this list. */
  remove(node: T): void {
    if (node.list !== this) return;
    if (node.previous === null) this.head = node.next;
    else node.previous.next = node.next;
    if (node.next === null) this.tail = node.previous;
    else node.next.previous = node.previous;
    node.list = null;
    node.previous = null;
    node.next = null;
    this.size -= 1;
  }

  /** Iterates from head to tail. The last yielded node may be removed during the iteration. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (let node = this.head; node !== null; ) {
      const next: T | null = node.next;
      yield node;
      node = next;
    }
  }
}

/** Hashes a text to 32 bits (FNV-1a). Fast and equal everywhere, but not for secrets. */
export function hashText(text: string, basis = 0x811c9dc5): number {
  let hash = basis;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Distributes the bits of a 32-bit hash: the finalizer of MurmurHash3. */
export function mixBits(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * The cost of a node for a key: the node with the lowest cost is the key's node (weighted rendezvous hashing). All
 * processes agree, and a change of the nodes moves few keys. `Infinity` for weight 0.
 *
 * @param key hash of the key
 * @param node hash of the node's name
 */
export function rendezvousCost(key: number, node: number, weight: number): number {
  const unitInterval = (mixBits(key ^ node) + 0.5) / 2 ** 32;
  return -Math.log(unitInterval) / weight;
}

/** The item with the lowest cost; among equals, the first one. Null: there is none. */
export function findLowest<Item>(items: Iterable<Item>, cost: (item: Item) => number): Item | null {
  let lowest: Item | null = null;
  let lowestCost = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const current = cost(item);
    if (lowest !== null && current >= lowestCost) continue;
    lowest = item;
    lowestCost = current;
  }
  return lowest;
}

/**
 * The node that all processes select for a key among the same nodes, without talking to each other (weighted rendezvous
 * hashing). Null: there is none.
 */
export function findNode<Node>(
  key: string,
  nodes: Iterable<Node>,
  hashOf: (node: Node) => number,
  weightOf: (node: Node) => number,
): Node | null {
  const hash = hashText(key);
  return findLowest(nodes, (node) => rendezvousCost(hash, hashOf(node), weightOf(node)));
}

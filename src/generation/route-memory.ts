import type { Conversation } from "../conversation/conversation.ts";
import { textOf } from "../conversation/conversation.ts";
import type { CatalogueModel, RouteTarget } from "../conversation/model.ts";
import { sha256Hex } from "../encoding/hash.ts";
import type { Platform } from "../platform/platform.ts";

/** Most conversations remembered whose model is not the first of their weighted order. */
const MAX_STAYS = 10_000;
/** Most failing models remembered. */
const MAX_AILING = 1_000;
/** A failing model moves behind the others for this time, milliseconds. The time doubles with each further failure. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/** The models that may answer a conversation, and the key that identifies the conversation. */
export interface Stay {
  readonly targets: readonly RouteTarget[];
  readonly key: string;
}

/** Evicts the oldest entry of a map with more than `most` entries. */
function bound(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** Hashes a text to a number between 0 and 1 (FNV-1a with mixed bits). The same text always gives the same number. */
function draw(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 + 2 ** -33;
}

/**
 * Orders the targets of a conversation by weight (weighted rendezvous hashing): equal on every isolate, and with few
 * changes when weights change. Targets of weight 0 come last.
 */
function drawn(targets: readonly RouteTarget[], key: string): CatalogueModel[] {
  if (targets.every(({ weight }) => weight === undefined)) return targets.map(({ model }) => model);
  return targets
    .map(({ model, weight = 1 }) => ({ model, at: -Math.log(draw(`${key} ${model.id}`)) / weight }))
    .sort((one, other) => (one.at === other.at ? 0 : one.at - other.at))
    .map(({ model }) => model);
}

/**
 * One isolate's knowledge of routes: the failing models, and the conversations that a model answered which is not the first
 * in their weighted order. A conversation stays with the model that answered it last while that model is healthy: the
 * provider has its prompts in the cache and signed its reasoning.
 */
export class RouteMemory {
  readonly #stays = new Map<string, string>();
  readonly #ailing = new Map<string, { failures: number; until: number }>();

  /** The models of a route, in the order in which they are tried for a conversation. */
  order({ targets, key }: Stay, now: number): CatalogueModel[] {
    const order = drawn(targets, key);
    const stay = this.#stays.get(key);
    const home = order.findIndex(({ id }) => id === stay);
    if (home > 0) order.unshift(...order.splice(home, 1));
    const well = order.filter(({ id }) => !this.#ails(id, now));
    return well.length === 0 ? order : [...well, ...order.filter(({ id }) => this.#ails(id, now))];
  }

  /** Records that a model answered a conversation. */
  answered({ targets, key }: Stay, id: string): void {
    this.#ailing.delete(id);
    this.#stays.delete(key);
    if (drawn(targets, key)[0]?.id === id) return;
    this.#stays.set(key, id);
    bound(this.#stays, MAX_STAYS);
  }

  /** Records that a model failed for a reason that is not the request's fault. */
  failed(id: string, now: number): void {
    const failures = (this.#ailing.get(id)?.failures ?? 0) + 1;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
    this.#ailing.delete(id);
    this.#ailing.set(id, { failures, until: now + pause });
    bound(this.#ailing, MAX_AILING);
  }

  #ails(id: string, now: number): boolean {
    return (this.#ailing.get(id)?.until ?? 0) > now;
  }
}

const memories = new WeakMap<Platform, RouteMemory>();

/** The route affinity of a platform. */
export function routesOf(platform: Platform): RouteMemory {
  let memory = memories.get(platform);
  if (memory === undefined) {
    memory = new RouteMemory();
    memories.set(platform, memory);
  }
  return memory;
}

/**
 * The key of a conversation, equal in all its turns: a hash of the caller's owner id, the requested model and the first
 * messages.
 */
export function conversationKey(owner: string, { model, messages }: Conversation): Promise<string> {
  const beginning = [
    messages.find(({ role }) => role === "system"),
    messages.find(({ role }) => role === "user"),
  ].map((message) => (message === undefined ? "" : textOf(message.parts)));
  return sha256Hex(JSON.stringify([owner, model.requested, ...beginning]));
}

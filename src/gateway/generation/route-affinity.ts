import type { Conversation } from "../../core/conversation/conversation.ts";
import { joinText } from "../../core/conversation/conversation.ts";
import type { CatalogueModel, RouteTarget } from "../../core/conversation/model.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import type { Platform } from "../../core/ports/platform.ts";

/** Most conversations remembered whose model is not the first of their weighted order. */
const MAX_STICKY_ROUTES = 10_000;
/** Most failing models remembered. */
const MAX_FAILING_MODELS = 1_000;
/** A failing model moves behind the others for this time, milliseconds. The time doubles with each further failure. */
const FIRST_COOLDOWN_MS = 2_000;
const MAX_COOLDOWN_MS = 60_000;

/** The models that may answer a conversation, and the key that identifies the conversation. */
export interface StickyRoute {
  readonly targets: readonly RouteTarget[];
  readonly key: string;
}

/** Evicts the oldest entry of a map with more than `maxSize` entries. */
function evictOldest(map: Map<string, unknown>, maxSize: number): void {
  if (map.size <= maxSize) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** Hashes a text to a number between 0 and 1 (FNV-1a with mixed bits). The same text always gives the same number. */
function hashToUnitInterval(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 + 2 ** -33;
}

/**
 * Orders the targets of a conversation by weight (weighted rendezvous hashing): equal on every isolate, and with few
 * changes when weights change. Targets of weight 0 come last.
 */
function orderByWeight(targets: readonly RouteTarget[], key: string): CatalogueModel[] {
  if (targets.every(({ weight }) => weight === undefined)) return targets.map(({ model }) => model);
  return targets
    .map(({ model, weight = 1 }) => ({
      model,
      at: -Math.log(hashToUnitInterval(`${key} ${model.id}`)) / weight,
    }))
    .sort((left, right) => (left.at === right.at ? 0 : left.at - right.at))
    .map(({ model }) => model);
}

/**
 * One isolate's state of routes: the failing models, and the conversations that a model answered which is not the first
 * in their weighted order. A conversation stays with the model that answered it last while that model is healthy: the
 * provider has its prompts in the cache and signed its reasoning.
 */
export class RouteAffinity {
  readonly #stickyModels = new Map<string, string>();
  readonly #failing = new Map<string, { failures: number; until: number }>();

  /** The models of a route, in the order in which they are tried for a conversation. */
  orderModels({ targets, key }: StickyRoute, now: number): CatalogueModel[] {
    const order = orderByWeight(targets, key);
    const stickyModel = this.#stickyModels.get(key);
    const stickyIndex = order.findIndex(({ id }) => id === stickyModel);
    if (stickyIndex > 0) order.unshift(...order.splice(stickyIndex, 1));
    const healthy = order.filter(({ id }) => !this.#isFailing(id, now));
    return healthy.length === 0 ? order : [...healthy, ...order.filter(({ id }) => this.#isFailing(id, now))];
  }

  /** Records that a model answered a conversation. */
  recordAnswer({ targets, key }: StickyRoute, id: string): void {
    this.#failing.delete(id);
    this.#stickyModels.delete(key);
    if (orderByWeight(targets, key)[0]?.id === id) return;
    this.#stickyModels.set(key, id);
    evictOldest(this.#stickyModels, MAX_STICKY_ROUTES);
  }

  /** Records that a model failed for a reason that is not the request's fault. */
  recordFailure(id: string, now: number): void {
    const failures = (this.#failing.get(id)?.failures ?? 0) + 1;
    const cooldownMs = Math.min(MAX_COOLDOWN_MS, FIRST_COOLDOWN_MS * 2 ** (failures - 1));
    this.#failing.delete(id);
    this.#failing.set(id, { failures, until: now + cooldownMs });
    evictOldest(this.#failing, MAX_FAILING_MODELS);
  }

  #isFailing(id: string, now: number): boolean {
    return (this.#failing.get(id)?.until ?? 0) > now;
  }
}

const affinities = new WeakMap<Platform, RouteAffinity>();

/** The route affinity of a platform. */
export function getRouteAffinity(platform: Platform): RouteAffinity {
  let affinity = affinities.get(platform);
  if (affinity === undefined) {
    affinity = new RouteAffinity();
    affinities.set(platform, affinity);
  }
  return affinity;
}

/**
 * The key of a conversation, equal in all its turns: a hash of the caller's owner id, the requested model and the first
 * messages.
 */
export function computeConversationKey(owner: string, { model, messages }: Conversation): Promise<string> {
  const openingTexts = [
    messages.find(({ role }) => role === "system"),
    messages.find(({ role }) => role === "user"),
  ].map((message) => (message === undefined ? "" : joinText(message.parts)));
  return sha256Hex(JSON.stringify([owner, model.requested, ...openingTexts]));
}

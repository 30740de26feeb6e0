import type { CatalogueModel, RouteTarget } from "../../../core/conversation/model.ts";
import { oncePer } from "../../../core/encoding/once.ts";
import { RecentMap } from "../../../core/encoding/recent-map.ts";
import { hashText, rendezvousCost } from "../../../core/encoding/text-hash.ts";
import type { AccountFailure } from "../../../core/ports/accounts.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { type Backoff, CircuitBreaker } from "../../../pool/health/circuit-breaker.ts";

/** Most conversations remembered whose model is not the first of their weighted order. */
const MAX_STICKY_ROUTES = 10_000;
/** Most failing models remembered. */
const MAX_FAILING_MODELS = 1_000;
/** For how long a failing model moves behind the others. */
const BACKOFF: Backoff = { first: 2_000, longest: 60_000 };
/** All failures of a model count the same. */
const MODEL_FAILURE: AccountFailure = {
  kind: "server_error",
  message: "",
  status: 0,
  fault: "provider",
  retryAfter: null,
};

/** The models that may answer a conversation, and the key that identifies the conversation. */
export interface StickyRoute {
  readonly targets: readonly RouteTarget[];
  readonly key: string;
  /** Whether the order of the targets may differ in the conversation's next turn. */
  readonly isDynamic?: boolean;
  /** Records how long a model took until its first token. Absent: the time is not needed. */
  recordFirstToken?(id: string, ms: number): void;
}

/**
 * Orders the targets of a conversation by weight (weighted rendezvous hashing): equal on every isolate, and with few
 * changes when weights change. Targets of weight 0 come last.
 */
function orderByWeight(targets: readonly RouteTarget[], key: string): CatalogueModel[] {
  if (targets.every(({ weight }) => weight === undefined)) return targets.map(({ model }) => model);
  const hash = hashText(key);
  return targets
    .map(({ model, weight = 1 }) => ({ model, cost: rendezvousCost(hash, hashText(model.id), weight) }))
    .sort((left, right) => (left.cost === right.cost ? 0 : left.cost - right.cost))
    .map(({ model }) => model);
}

/**
 * One isolate's state of routes: the failing models, and the conversations whose last model is not always the first of
 * their route. A conversation stays with the model that answered it last while that model is healthy: the
 * provider has its prompts in the cache and signed its reasoning.
 */
class RouteAffinity {
  readonly #stickyModels = new RecentMap<string>(MAX_STICKY_ROUTES);
  readonly #failing = new RecentMap<CircuitBreaker>(MAX_FAILING_MODELS);

  /** The models of a route, in the order in which they are tried for a conversation. */
  orderModels({ targets, key }: StickyRoute, now: number): CatalogueModel[] {
    const order = orderByWeight(targets, key);
    const stickyModel = this.#stickyModels.get(key, now);
    const stickyIndex = order.findIndex(({ id }) => id === stickyModel);
    if (stickyIndex > 0) order.unshift(...order.splice(stickyIndex, 1));
    const healthy = order.filter(({ id }) => !this.#isFailing(id, now));
    return healthy.length === 0 ? order : [...healthy, ...order.filter(({ id }) => this.#isFailing(id, now))];
  }

  /** Records that a model answered a conversation. */
  recordAnswer({ targets, key, isDynamic }: StickyRoute, id: string, now: number): void {
    this.#failing.delete(id);
    this.#stickyModels.delete(key);
    if (isDynamic !== true && orderByWeight(targets, key)[0]?.id === id) return;
    this.#stickyModels.set(key, id, now);
  }

  /** Records that a model failed for a reason that is not the request's fault. */
  recordFailure(id: string, now: number): void {
    const breaker = this.#failing.get(id, now) ?? new CircuitBreaker();
    breaker.recordFailure(MODEL_FAILURE, 0, now, BACKOFF);
    this.#failing.set(id, breaker, now);
  }

  #isFailing(id: string, now: number): boolean {
    return (this.#failing.get(id, now)?.openUntil ?? 0) > now;
  }
}

/** The route affinity of a platform. */
export const getRouteAffinity = oncePer((_: Platform) => new RouteAffinity());

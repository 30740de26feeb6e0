import type { Conversation } from "../conversation/conversation.ts";
import { textOf } from "../conversation/conversation.ts";
import type { CatalogueModel, RouteTarget } from "../conversation/model.ts";
import { sha256Hex } from "../encoding/hash.ts";
import type { Platform } from "../platform/platform.ts";

/** How many conversations are remembered that did not end up where their draw led. */
const MAX_STAYS = 10_000;
/** How many models are remembered that have failed. */
const MAX_AILING = 1_000;
/** A model that has failed is asked after the others for so long, twice as long with each failure more, milliseconds. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/** What a conversation may be answered by, and what it is known by. */
export interface Stay {
  readonly targets: readonly RouteTarget[];
  readonly key: string;
}

/** Forgets the oldest entry of a map that holds more than `most`. */
function bound(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** A number between 0 and 1 that a text always comes to (FNV-1a, with its bits mixed). */
function draw(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 + 2 ** -33;
}

/**
 * The targets as their weights share conversations: the same for a conversation wherever it is asked for, and with as few
 * changes as can be when weights change. Those of weight 0 come last.
 */
function drawn(targets: readonly RouteTarget[], key: string): CatalogueModel[] {
  if (targets.every(({ weight }) => weight === undefined)) return targets.map(({ model }) => model);
  return targets
    .map(({ model, weight = 1 }) => ({ model, at: -Math.log(draw(`${key} ${model.id}`)) / weight }))
    .sort((one, other) => (one.at === other.at ? 0 : one.at - other.at))
    .map(({ model }) => model);
}

/**
 * What one isolate has learnt of routes: which models fail, and which conversations live elsewhere than where their draw
 * leads. A conversation stays with the model that answered it last while that one is well: its prompts are cached there, and
 * its thoughts are signed there.
 */
export class RouteMemory {
  readonly #stays = new Map<string, string>();
  readonly #ailing = new Map<string, { failures: number; until: number }>();

  /** The models of a route, in the order in which they are asked for a conversation. */
  order({ targets, key }: Stay, now: number): CatalogueModel[] {
    const order = drawn(targets, key);
    const stay = this.#stays.get(key);
    const home = order.findIndex(({ id }) => id === stay);
    if (home > 0) order.unshift(...order.splice(home, 1));
    const well = order.filter(({ id }) => !this.#ails(id, now));
    return well.length === 0 ? order : [...well, ...order.filter(({ id }) => this.#ails(id, now))];
  }

  /** A model has answered a conversation. */
  answered({ targets, key }: Stay, id: string): void {
    this.#ailing.delete(id);
    this.#stays.delete(key);
    if (drawn(targets, key)[0]?.id === id) return;
    this.#stays.set(key, id);
    bound(this.#stays, MAX_STAYS);
  }

  /** A model could not answer, which was not the request's fault. */
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

/** What is remembered of a platform's routes. */
export function routesOf(platform: Platform): RouteMemory {
  let memory = memories.get(platform);
  if (memory === undefined) {
    memory = new RouteMemory();
    memories.set(platform, memory);
  }
  return memory;
}

/** What a conversation is known by in all its turns: who has it, which name was asked for, and how it begins. */
export function conversationKey(owner: string, { model, messages }: Conversation): Promise<string> {
  const beginning = [
    messages.find(({ role }) => role === "system"),
    messages.find(({ role }) => role === "user"),
  ].map((message) => (message === undefined ? "" : textOf(message.parts)));
  return sha256Hex(JSON.stringify([owner, model.requested, ...beginning]));
}

import { sha256Hex } from "../../core/encoding/hash.ts";
import type { ResponseStore, StoredResponse } from "../../core/ports/responses.ts";
import type { OwnerQuota } from "../../core/storage/expiring-store.ts";
import type { Env } from "./env.ts";

/** Key prefix of all stored responses. */
const PREFIX = "responses/";

/**
 * The stored responses of one caller: in one Durable Object, or in the bucket `RESPONSES_BUCKET` where that is bound.
 * Responses from before the bucket was bound are read from the Durable Object.
 *
 * @param owner hash of the caller's credential
 * @param startedAt when the request began that uses them, Unix milliseconds
 */
export function createResponseStore(
  env: Env,
  owner: string,
  startedAt: number,
  quota: OwnerQuota,
): ResponseStore {
  const object = env.RESPONSE_STORE.getByName(owner);
  const { RESPONSES_BUCKET: bucket } = env;
  if (bucket !== undefined) return new BucketResponseStore(bucket, owner, startedAt, quota, object);
  return {
    get: (id) => object.get(id),
    put: (response) => object.put(response, Date.now() - startedAt),
    remove: (id) => object.remove(id),
  };
}

/** Deletes everything that is stored for a caller. Returns the number of deleted objects. */
export async function eraseCaller(env: Env, owner: string): Promise<number> {
  const { RESPONSES_BUCKET: bucket } = env;
  let count = await env.RESPONSE_STORE.getByName(owner).erase();
  if (bucket === undefined) return count;
  for (;;) {
    // Each list is the first one, because the objects before are deleted.
    const { objects, truncated } = await bucket.list({ prefix: `${PREFIX}${owner}/` });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    count += objects.length;
    if (!truncated) return count;
  }
}

/** One object of the bucket per response. There is no rate limit, and no response evicts another. */
class BucketResponseStore implements ResponseStore {
  readonly #bucket: R2Bucket;
  readonly #owner: string;
  readonly #startedAt: number;
  readonly #quota: OwnerQuota;
  readonly #earlierStore: Pick<
    ReturnType<Env["RESPONSE_STORE"]["getByName"]>,
    "get" | "remove" | "wasErasedSince"
  >;

  constructor(
    bucket: R2Bucket,
    owner: string,
    startedAt: number,
    quota: OwnerQuota,
    earlierStore: Pick<ReturnType<Env["RESPONSE_STORE"]["getByName"]>, "get" | "remove" | "wasErasedSince">,
  ) {
    this.#bucket = bucket;
    this.#owner = owner;
    this.#startedAt = startedAt;
    this.#quota = quota;
    this.#earlierStore = earlierStore;
  }

  async get(id: string): Promise<StoredResponse | null> {
    const key = await this.#key(id);
    const object = await this.#bucket.get(key);
    if (object === null) return this.#earlierStore.get(id);
    const response: StoredResponse = await object.json();
    if (response.expiresAt > Date.now()) return response;
    await this.#bucket.delete(key);
    return null;
  }

  async put(response: StoredResponse): Promise<void> {
    const text = JSON.stringify(response);
    if (text.length > this.#quota.characters) return;
    const customMetadata = { expires: String(response.expiresAt) };
    const key = await this.#key(response.id);
    await this.#bucket.put(key, text, { customMetadata });
    // An erasure sets its mark before it deletes from the bucket: if it missed this object, the mark is there now.
    if (await this.#earlierStore.wasErasedSince(Date.now() - this.#startedAt)) await this.#bucket.delete(key);
  }

  async remove(id: string): Promise<boolean> {
    const key = await this.#key(id);
    const [object, existedEarlier] = await Promise.all([
      this.#bucket.head(key),
      this.#earlierStore.remove(id),
    ]);
    if (object === null) return existedEarlier;
    await this.#bucket.delete(key);
    return existedEarlier || Number(object.customMetadata?.["expires"]) > Date.now();
  }

  /** Hashed, because ids in requests may have any characters and length. */
  async #key(id: string): Promise<string> {
    return `${PREFIX}${this.#owner}/${await sha256Hex(id)}`;
  }
}

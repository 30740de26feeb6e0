import { sha256Hex } from "../../encoding/hash.ts";
import type { Quota } from "../../storage/kept.ts";
import type { ResponseStore, StoredResponse } from "../responses.ts";
import type { Env } from "./env.ts";

/** What the keys of all stored responses begin with. */
const PREFIX = "responses/";

/**
 * The stored responses of one caller: in an object of their own, or in objects of the bucket `RESPONSES_BUCKET` where that is bound. What
 * was stored before that is found where it was.
 *
 * @param owner the hash of the caller's credential
 */
export function storedResponses(env: Env, owner: string, quota: Quota): ResponseStore {
  const object = env.RESPONSE_STORE.getByName(owner);
  const { RESPONSES_BUCKET: bucket } = env;
  if (bucket !== undefined) return new BucketResponses(bucket, owner, quota, object);
  return {
    get: (id) => object.get(id),
    put: (response) => object.put(response),
    remove: (id) => object.remove(id),
  };
}

/** One object of a bucket for each response: they come in at any rate, and none makes room for another. */
class BucketResponses implements ResponseStore {
  readonly #bucket: R2Bucket;
  readonly #owner: string;
  readonly #quota: Quota;
  readonly #before: Pick<ReturnType<Env["RESPONSE_STORE"]["getByName"]>, "get" | "remove">;

  constructor(
    bucket: R2Bucket,
    owner: string,
    quota: Quota,
    before: Pick<ReturnType<Env["RESPONSE_STORE"]["getByName"]>, "get" | "remove">,
  ) {
    this.#bucket = bucket;
    this.#owner = owner;
    this.#quota = quota;
    this.#before = before;
  }

  async get(id: string): Promise<StoredResponse | null> {
    const key = await this.#key(id);
    const object = await this.#bucket.get(key);
    if (object === null) return this.#before.get(id);
    const response: StoredResponse = await object.json();
    if (response.expiresAt > Date.now()) return response;
    await this.#bucket.delete(key);
    return null;
  }

  async put(response: StoredResponse): Promise<void> {
    const text = JSON.stringify(response);
    if (text.length > this.#quota.characters) return;
    const customMetadata = { expires: String(response.expiresAt) };
    await this.#bucket.put(await this.#key(response.id), text, { customMetadata });
  }

  async remove(id: string): Promise<boolean> {
    const key = await this.#key(id);
    const [object, wasBefore] = await Promise.all([this.#bucket.head(key), this.#before.remove(id)]);
    if (object === null) return wasBefore;
    await this.#bucket.delete(key);
    return wasBefore || Number(object.customMetadata?.["expires"]) > Date.now();
  }

  /** Ids in addresses may be anything, and of any length. */
  async #key(id: string): Promise<string> {
    return `${PREFIX}${this.#owner}/${await sha256Hex(id)}`;
  }
}

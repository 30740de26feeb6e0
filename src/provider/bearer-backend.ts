import { withoutTrailingSlashes } from "../encoding/path-segment.ts";
import type { ExchangeKind, ProviderOptions } from "./driver.ts";
import { embeddingsOf } from "./embeddings.ts";
import { KeyedBackend, type KeyedProtocol } from "./keyed-backend.ts";
import type { Embedding } from "./provider.ts";
import { readRecord } from "./transport.ts";

/**
 * A backend of the family of APIs whose key is a bearer token, and which has embeddings beside its generations: chat
 * completions and responses are told apart by their paths alone.
 */
export abstract class BearerBackend<Wire extends { readonly model: string }> extends KeyedBackend<Wire> {
  readonly embeddings: Embedding = {
    embed: async (account, { model, ...wishes }, signal) => {
      const body = { model: this.modelName(model), ...wishes, encoding_format: "float" };
      const response = await this.post(account, "/embeddings", body, "application/json", signal);
      if (!response.ok) throw (await this.refusal(response, account, signal)).error;
      return embeddingsOf(await readRecord(response, signal), wishes.input.length);
    },
  };

  constructor(options: ProviderOptions, protocol: Omit<KeyedProtocol<Wire>, "address">) {
    super(options, { ...protocol, address: withoutTrailingSlashes(options.baseUrl) });
  }

  protected override headers(token: string) {
    return { authorization: `Bearer ${token}` };
  }
}

/** What a path of such a backend is for, whose generations are at `generations`. */
export function bearerExchange(path: string, generations: string): ExchangeKind {
  if (path.endsWith(generations)) return { label: "completion", round: { session: null } };
  if (path.endsWith("/embeddings")) return { label: "embeddings" };
  return { label: path.endsWith("/models") ? "models" : "other" };
}

/** Longer names of users are refused by the family's public API, and are no reason to fail. */
const MAX_USER_CHARS = 64;

/** The caller's name for its user, if it can be sent. */
export function userName(user: string | undefined): string | undefined {
  return user !== undefined && user.length > MAX_USER_CHARS ? undefined : user;
}

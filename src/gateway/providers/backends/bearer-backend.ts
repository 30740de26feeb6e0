import { withoutTrailingSlashes } from "../../../core/encoding/path-segment.ts";
import { readEmbeddings } from "../answers/embeddings.ts";
import type { ExchangeKind, ProviderOptions } from "../driver.ts";
import type { FilesApi } from "../files/files-api.ts";
import { createLazyFiles } from "../files/lazy-files.ts";
import type { Passthrough } from "../passthrough/passthrough.ts";
import type { EmbeddingsApi, EmbeddingsBody } from "../provider.ts";
import { readRecord } from "../transport.ts";
import { KeyedBackend } from "./keyed-backend.ts";
import type { KeyedProtocol } from "./keyed-protocol.ts";

/**
 * A backend whose API key is a bearer token and which also offers embeddings, files and the endpoints that need no
 * translation. Chat completions and responses backends differ only in their paths.
 */
export abstract class BearerBackend<Wire extends { readonly model: string }> extends KeyedBackend<Wire> {
  readonly embeddings: EmbeddingsApi = {
    protocol: "embeddings",
    embed: async (account, { model, ...options }, signal) => {
      const body = { ...options, model: this.modelName(model) };
      const response = await this.post(account, "/embeddings", body, "application/json", signal);
      if (!response.ok) throw (await this.readError(response, account, signal)).error;
      const answer = await readRecord(response, signal);
      return { ...readEmbeddings(answer, countInputs(options.input)), answer };
    },
  };

  override readonly files: FilesApi;
  readonly passthrough: Passthrough;

  constructor(options: ProviderOptions, protocol: Omit<KeyedProtocol<Wire>, "address">) {
    const address = withoutTrailingSlashes(options.baseUrl);
    super(options, { ...protocol, address });
    this.files = createLazyFiles(async () => {
      const { createBearerFiles } = await import("../file-modules.ts");
      return createBearerFiles(address, (account) => this.headers(account), options.newId);
    });
    const load = async () =>
      (await import("../passthrough/bearer-passthrough.ts")).createBearerPassthrough(
        address,
        (account) => this.headers(account),
        (id) => this.modelName(id),
        (...rejection) => this.readError(...rejection, true),
        (text) => this.withoutDropParams(text),
      );
    this.passthrough = {
      send: async (...request) => (await load()).send(...request),
      openSocket: async (...request) => (await load()).openSocket(...request),
    };
  }

  protected override keyHeaders(token: string) {
    return { authorization: `Bearer ${token}` };
  }
}

/** The number of vectors that the answer must have. A list of numbers is one input: the tokens of a text. */
function countInputs(input: EmbeddingsBody["input"]): number {
  return typeof input === "string" || typeof input[0] === "number" ? 1 : input.length;
}

/** Classifies an exchange by its path. `generations` is the path at which generations are requested. */
export function classifyBearerExchange(path: string, generations: string): ExchangeKind {
  if (path.endsWith(generations)) return { label: "completion", round: { session: null } };
  if (path.endsWith("/embeddings")) return { label: "embeddings" };
  if (/\/files(?:\/[^/]+(?:\/content)?)?$/.test(path)) return { label: "file" };
  if (path.endsWith("/realtime")) return { label: "realtime" };
  const passthrough = /\/(images|audio|moderations|rerank|batches)(?:\/[\w-]+){0,2}$/.exec(path)?.[1];
  if (passthrough !== undefined) return { label: passthrough };
  return { label: path.endsWith("/models") ? "models" : "other" };
}

/** The maximum length of a user id. The public API refuses longer ones; the gateway omits them instead of failing. */
const MAX_USER_CHARS = 64;

/** Returns the caller's id of its user, or undefined if the id is too long to send. */
export function acceptedUserId(user: string | undefined): string | undefined {
  return user !== undefined && user.length > MAX_USER_CHARS ? undefined : user;
}

import type { Caller } from "../../core/auth/callers.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import type { JsonObject } from "../../core/encoding/json.ts";
import type { Context } from "../../core/ports/context.ts";
import type { IsModelAllowed } from "../generation/native/named-models.ts";
import type { ContentsQuery, EmbeddingsBody, Vector } from "../providers/provider.ts";

/** An input to embed: a text, or the tokens of any tokenizer. */
export type EmbeddingInput = string | readonly number[];

/** A request for embeddings, independent of its style. */
export interface EmbeddingRequest {
  readonly context: Context;
  readonly caller: Caller;
  /** The style's name, for the queue's status. */
  readonly style: string;
  readonly model: ResolvedModel;
  /** What is embedded. Media have only their texts here: `assertPlainInputs` rejects media where they would be lost. */
  readonly inputs: readonly EmbeddingInput[];
  /** Throws 400 if the body has more than `inputs` and `dimensions`. Called unless the provider gets the body itself. */
  readonly assertPlainInputs?: () => void;
  /** Whether the body names further models that may not be used. Absent: it cannot. */
  readonly namesOtherModels?: (isAllowed: IsModelAllowed) => boolean;
  /** Name of the input field in the style, for errors. */
  readonly field: string;
  /** Number of dimensions; null: the model's usual number. */
  readonly dimensions: number | null;
  /** The caller's body without the model, for a provider of the same protocol. */
  readonly stated?:
    | { readonly protocol: "embeddings"; readonly body: EmbeddingsBody }
    | ({ readonly protocol: "content-generation" } & ContentsQuery);
}

/** The vectors in the order of the inputs, which may be computed on demand, and the number of tokens of all inputs. */
export interface Vectors {
  readonly vectors: Iterable<Vector>;
  readonly tokens: number;
  /** The answer of a provider of the caller's protocol, from which `vectors` were read; null: there is none. */
  readonly answer: JsonObject | null;
}

import type { Caller } from "../../core/auth/callers.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import type { JsonObject } from "../../core/encoding/json.ts";
import type { Context } from "../../core/ports/context.ts";

/** An input to embed: a text, or the tokens of any tokenizer. */
export type EmbeddingInput = string | readonly number[];

/** A request for embeddings, independent of its style. */
export interface EmbeddingRequest {
  readonly context: Context;
  readonly caller: Caller;
  /** The style's name, for the queue's status. */
  readonly style: string;
  readonly model: ResolvedModel;
  readonly inputs: readonly EmbeddingInput[];
  /** Name of the input field in the style, for errors. */
  readonly field: string;
  /** Number of dimensions; null: the model's usual number. */
  readonly dimensions: number | null;
  /** What the caller stated besides, for a provider of the same protocol: members of the body, or of each input. */
  readonly stated?:
    | { readonly protocol: "embeddings"; readonly members: JsonObject }
    | { readonly protocol: "content-generation"; readonly members: readonly JsonObject[] };
}

/** Vectors of unit length in the order of the inputs, computed on demand, and the number of tokens of all inputs. */
export interface Vectors {
  readonly vectors: Iterable<ArrayLike<number> & Iterable<number>>;
  readonly tokens: number;
}

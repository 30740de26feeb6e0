import type { Caller } from "../auth/callers.ts";
import type { ResolvedModel } from "../conversation/model.ts";
import type { Context } from "../platform/context.ts";

/** What is to be embedded: a text, or tokens of some tokenizer. */
export type EmbeddingInput = string | readonly number[];

/** A request for embeddings, in whatever style it came. */
export interface EmbeddingWish {
  readonly context: Context;
  readonly caller: Caller;
  /** The style's name, for the queue's status. */
  readonly style: string;
  readonly model: ResolvedModel;
  readonly inputs: readonly EmbeddingInput[];
  /** What the style calls its inputs, for errors. */
  readonly field: string;
  /** How many numbers a vector shall have; null: as many as the model's usually have. */
  readonly dimensions: number | null;
}

/** Vectors of unit length in the order of the inputs, each made when it is asked for, and the tokens that the inputs had. */
export interface Vectors {
  readonly vectors: Iterable<ArrayLike<number> & Iterable<number>>;
  readonly tokens: number;
}

import type { KeptFile } from "./files.ts";
import type { StoredResponse } from "./responses.ts";

/** What is kept for callers until it expires, by kind. */
export interface CallerObjects {
  readonly response: StoredResponse;
  readonly file: KeptFile;
}

/** What the scanner found, in the order in which it has to be shown. */
export type ScanEvent =
  /** Text to pass on. */
  | { type: "text"; text: string }
  /** A call is certain. `index` counts the calls of one scanner. */
  | { type: "tool-call"; index: number; name: string }
  /** A fragment of the arguments: all fragments of a call that ends make one JSON object, and the first begins with `{`. */
  | { type: "tool-arguments"; index: number; delta: string }
  /** The call is complete. One that never ends is no call: the text was over within it. */
  | { type: "tool-call-end"; index: number };

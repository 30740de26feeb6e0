/** The scanner's events, in the order in which they must be shown. */
export type ScanEvent =
  /** Text to pass on. */
  | { type: "text"; text: string }
  /** A call begins. `index` counts the calls of one scanner. */
  | { type: "tool-call"; index: number; name: string }
  /**
   * A fragment of the arguments. All fragments of a complete call form one JSON object, and the first fragment begins with
   * `{`.
   */
  | { type: "tool-arguments"; index: number; delta: string }
  /** The call is complete. A call without this event was cut off and does not count. */
  | { type: "tool-call-end"; index: number };

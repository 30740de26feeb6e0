/** The types of the admin API come from the server's files, one of which knows of a class that browsers do not have. */
declare const IdentityTransformStream:
  | (new () => TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>)
  | undefined;

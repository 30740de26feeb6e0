/** A channel that other runtimes have; where it is missing the program takes a `TransformStream`. */
declare const IdentityTransformStream:
  | (new () => {
      readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
      readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
    })
  | undefined;

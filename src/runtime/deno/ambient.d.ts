/** A byte channel that only other runtimes have. Without it the program uses a `TransformStream`. */
declare const IdentityTransformStream:
  | (new () => {
      readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
      readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
    })
  | undefined;

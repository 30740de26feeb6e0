// These two come with types of their own, which are for loaders that instantiate what they import.
declare module "@jsquash/png/codec/pkg/squoosh_png_bg.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

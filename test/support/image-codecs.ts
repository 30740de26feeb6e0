import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { CodecModules } from "../../src/core/ports/pages.ts";
import { createAvifEncoder } from "../../src/runtime/deno/avif.ts";

const require = createRequire(import.meta.url);
// The types of Workers omit the compiling constructor, because Workers cannot compile at run time.
const compile = (path: string): WebAssembly.Module =>
  Reflect.construct(WebAssembly.Module, [readFileSync(require.resolve(path))]);

/** Compiles the image codecs for this process. */
export const compileCodecs = (): CodecModules => ({
  jpeg: compile("@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm"),
  png: compile("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
  resize: compile("@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm"),
  webp: compile("@jsquash/webp/codec/enc/webp_enc_simd.wasm"),
  avif: () => createAvifEncoder(compile("@jsquash/avif/codec/enc/avif_enc.wasm")),
});

import jpeg from "@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm";
import png from "@jsquash/png/codec/pkg/squoosh_png_bg.wasm";
import resize from "@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm";
import webp from "@jsquash/webp/codec/enc/webp_enc_simd.wasm";
import type { CodecModules } from "../../core/ports/pages.ts";

/** The image codecs. The runtime compiles them when it loads this module. */
export const CODECS: CodecModules = { jpeg, png, resize, webp, avif: null };

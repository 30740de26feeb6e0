import jpeg from "@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm";
import png from "@jsquash/png/codec/pkg/squoosh_png_bg.wasm";
import resize from "@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm";
import webp from "@jsquash/webp/codec/enc/webp_enc_simd.wasm";
import { ImageConverter } from "../../pages/images/image-converter.ts";

/** Creates the converter of pictures. The runtime compiles the codecs when it loads this module. */
export const createImageConverter = (): ImageConverter =>
  new ImageConverter({ jpeg, png, resize, webp, avif: null });

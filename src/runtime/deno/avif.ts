import factory from "@jsquash/avif/codec/enc/avif_enc.js";
import { defaultOptions } from "@jsquash/avif/meta.js";
import { initEmscriptenModule } from "@jsquash/avif/utils.js";
import type { AvifEncoder } from "../../core/ports/pages.ts";
import { FULL_COLOUR_QUALITY } from "../../pages/images/image-converter.ts";

/** The fastest effort. The next slower one takes three times as long, for files of much the same size. */
const SPEED = 10;
/** No subsampling of colours (4:4:4), and half of them in each direction (4:2:0), in the encoder's own numbers. */
const FULL_COLOUR = 3;
const HALF_COLOUR = 1;

/** Creates the AVIF encoder, on one thread. */
export async function createAvifEncoder(module: WebAssembly.Module): Promise<AvifEncoder> {
  const encoder = await initEmscriptenModule(factory, module);
  return {
    encode: (pixels, width, height, quality) => {
      const subsample = quality >= FULL_COLOUR_QUALITY ? FULL_COLOUR : HALF_COLOUR;
      const bytes = new Uint8Array(pixels);
      return encoder.encode(bytes, width, height, { ...defaultOptions, quality, speed: SPEED, subsample });
    },
  };
}

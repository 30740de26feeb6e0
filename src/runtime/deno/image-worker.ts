/// <reference lib="deno.worker" />
import { ImageConverter } from "../../pages/images/image-converter.ts";
import type { ConversionReply, ConversionRequest } from "./image-thread.ts";

/*
 * The thread that converts pictures: decoding and encoding compute for seconds, and the main thread serves requests.
 */

async function compileWasm(specifier: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Deno.readFile(new URL(import.meta.resolve(specifier))));
}

async function createConverter(): Promise<ImageConverter> {
  return new ImageConverter({
    jpeg: await compileWasm("@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm"),
    png: await compileWasm("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
    resize: await compileWasm("@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm"),
    webp: await compileWasm("@jsquash/webp/codec/enc/webp_enc_simd.wasm"),
    avif: async () => {
      const { createAvifEncoder } = await import("./avif.ts");
      return createAvifEncoder(await compileWasm("@jsquash/avif/codec/enc/avif_enc.wasm"));
    },
  });
}

let converter: Promise<ImageConverter> | undefined;

async function convert({ id, input }: ConversionRequest): Promise<ConversionReply> {
  try {
    converter ??= createConverter();
    return { id, bytes: await (await converter).convert(...input) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : "the picture cannot be converted" };
  }
}

self.addEventListener("message", async ({ data }: MessageEvent<ConversionRequest>) => {
  self.postMessage(await convert(data));
});

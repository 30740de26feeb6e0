import encodeJpeg, { init as initJpeg } from "@jsquash/jpeg/encode.js";
import decodePng, { init as initPngDecoder } from "@jsquash/png/decode.js";
import encodePng, { init as initPngEncoder } from "@jsquash/png/encode.js";
import resize, { initResize } from "@jsquash/resize";
// The package's own entry would include a second encoder, for processors without SIMD.
import webpFactory from "@jsquash/webp/codec/enc/webp_enc_simd.js";
import { defaultOptions as webpDefaults } from "@jsquash/webp/meta.js";
import { initEmscriptenModule } from "@jsquash/webp/utils.js";
import { isObject } from "../../core/encoding/json.ts";
import type { ImageFormat, Size } from "../../core/ports/page-browser.ts";
import type { AvifEncoder, CodecModules, ImageConversion } from "../../core/ports/pages.ts";

/** From this quality on, colours are not subsampled (4:4:4 instead of 4:2:0). */
export const FULL_COLOUR_QUALITY = 90;
/**
 * Maximum quality of the colours in MozJPEG; brightness gets the full requested quality. The difference is not visible
 * (an image of many colours is at 50 dB), and at 100 the encoder's search for the best coefficients takes longest.
 */
const MAX_CHROMA_QUALITY = 97;

// The codecs define a `location` without an origin. Libraries take it for that of a page, and build invalid addresses from
// it. "null" is the origin of no page (HTML, section 7.1.1).
const location: unknown = Reflect.get(globalThis, "location");
if (isObject(location) && !("origin" in location)) Object.assign(location, { origin: "null" });

type Pixels = Awaited<ReturnType<typeof decodePng>>;

/** Converts PNG captures to images of the requested size and format. */
export class ImageConverter implements ImageConversion {
  readonly #modules: CodecModules;
  readonly #ready = new Set<string>();
  #webp: ReturnType<typeof webpFactory> | undefined;
  #avif: Promise<AvifEncoder> | undefined;

  constructor(modules: CodecModules) {
    this.#modules = modules;
  }

  /**
   * Scales a capture to `size` and encodes it. A capture that is larger by at most the margin is cropped instead.
   *
   * @param png bytes of a PNG; at most `MAX_PROCESSED_PIXELS` together with the output
   * @param quality 1 to 100; without effect on png
   * @param margin maximum excess pixels of a capture, because captures show whole CSS pixels
   * @param transparent the capture may have transparent parts
   */
  async convert(
    png: Uint8Array<ArrayBuffer>,
    size: Size,
    format: ImageFormat,
    quality: number,
    margin = 0,
    transparent = false,
  ): Promise<Uint8Array<ArrayBuffer>> {
    await this.#initOnce("png", async (module) => {
      await initPngDecoder(module);
      await initPngEncoder(module);
    });
    const captured = await decodePng(exactBuffer(png));
    if (captured.width === size.width && captured.height === size.height) {
      return format === "png" ? png : this.#encode(captured, format, quality);
    }
    if (isWithinMargin(captured, size, margin))
      return this.#encode(cropTopLeft(captured, size), format, quality);
    await this.#initOnce("resize", (module) => initResize(module));
    // An opaque capture needs no premultiplication. Scaling the stored values is what other tools do. Catmull-Rom
    // looks like Lanczos, in three quarters of the time.
    const options = { ...size, method: "catrom", premultiply: transparent, linearRGB: false } as const;
    return this.#encode(await resize(captured, options), format, quality);
  }

  async #encode(pixels: Pixels, format: ImageFormat, quality: number): Promise<Uint8Array<ArrayBuffer>> {
    if (format === "png") return new Uint8Array(await encodePng(pixels));
    if (format === "webp") return this.#encodeWebp(pixels, quality);
    if (format === "avif") return this.#encodeAvif(pixels, quality);
    await this.#initOnce("jpeg", (module) => initJpeg(module));
    return new Uint8Array(
      await encodeJpeg(pixels, {
        quality,
        // Progressive coding takes 50 % more time to save a tenth of the bytes of such small images.
        progressive: false,
        auto_subsample: false,
        chroma_subsample: quality >= FULL_COLOUR_QUALITY ? 1 : 2,
        separate_chroma_quality: true,
        chroma_quality: Math.min(quality, MAX_CHROMA_QUALITY),
        // Searching coefficients in two parts of the spectrum is faster if there are many of them.
        trellis_multipass: quality > MAX_CHROMA_QUALITY,
      }),
    );
  }

  async #encodeWebp({ data, width, height }: Pixels, quality: number): Promise<Uint8Array<ArrayBuffer>> {
    this.#webp ??= initEmscriptenModule(webpFactory, this.#modules.webp);
    const encoded = (await this.#webp).encode(data, width, height, { ...webpDefaults, quality });
    if (encoded === null) throw new Error("The image cannot be encoded as WebP.");
    return new Uint8Array(encoded);
  }

  async #encodeAvif({ data, width, height }: Pixels, quality: number): Promise<Uint8Array<ArrayBuffer>> {
    this.#avif ??= this.#loadAvif();
    const encoded = (await this.#avif).encode(data, width, height, quality);
    if (encoded === null) throw new Error("The image cannot be encoded as AVIF.");
    return new Uint8Array(encoded);
  }

  async #loadAvif(): Promise<AvifEncoder> {
    const load = this.#modules.avif;
    if (load === null) throw new Error("This platform has no AVIF encoder.");
    return load();
  }

  async #initOnce(
    codec: Exclude<keyof CodecModules, "avif">,
    init: (module: WebAssembly.Module) => Promise<unknown>,
  ): Promise<void> {
    if (this.#ready.has(codec)) return;
    await init(this.#modules[codec]);
    this.#ready.add(codec);
  }
}

function isWithinMargin(captured: Size, { width, height }: Size, margin: number): boolean {
  const right = captured.width - width;
  const bottom = captured.height - height;
  return right >= 0 && bottom >= 0 && right <= margin && bottom <= margin;
}

/** The top left part of an image. */
function cropTopLeft(image: Pixels, { width, height }: Size): Pixels {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++) {
    const from = y * image.width * 4;
    data.set(image.data.subarray(from, from + width * 4), y * width * 4);
  }
  return { ...image, data, width, height };
}

function exactBuffer(bytes: Uint8Array<ArrayBuffer>): ArrayBuffer {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}

import type { Size } from "../../core/ports/page-browser.ts";

/** The size of an encoded PNG, JPEG or WebP image, from its header. Null for other data. */
export function readImageSize(bytes: Uint8Array): Size | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint32(0) === 0x89504e47) return { width: view.getUint32(16), height: view.getUint32(20) };
    if (view.getUint16(0) === 0xffd8) return readJpegSize(view);
    if (view.getUint32(0) === 0x52494646 && view.getUint32(8) === 0x57454250) return readWebpSize(view);
  } catch {
    // The bytes are truncated.
  }
  return null;
}

/** Reads the frame header, which follows segments with explicit lengths (ITU T.81, B.1.1.3 and B.2.2). */
function readJpegSize(view: DataView): Size | null {
  for (let offset = 2; view.getUint8(offset) === 0xff; offset += 2 + view.getUint16(offset + 2)) {
    const marker = view.getUint8(offset + 1);
    const isTable = marker === 0xc4 || marker === 0xc8 || marker === 0xcc;
    if (marker >= 0xc0 && marker <= 0xcf && !isTable) {
      return { width: view.getUint16(offset + 7), height: view.getUint16(offset + 5) };
    }
  }
  return null;
}

/** Reads the first chunk (RFC 9649): extended, lossless or lossy. */
function readWebpSize(view: DataView): Size | null {
  const int24 = (offset: number) => view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16);
  switch (view.getUint32(12)) {
    case 0x56503858:
      return { width: int24(24) + 1, height: int24(27) + 1 };
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503820:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return null;
  }
}

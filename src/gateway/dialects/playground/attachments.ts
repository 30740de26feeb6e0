import type { Attachment } from "./types.ts";

/** The address of an attachment: its own, or one that contains its bytes. */
export function toUrl({ mediaType, data, url }: Attachment): string {
  return data === "" ? url : `data:${mediaType};base64,${data}`;
}

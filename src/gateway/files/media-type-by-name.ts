/** Media types by the ending of a file name, of files that models read. */
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    pdf: "application/pdf",
    txt: "text/plain",
    md: "text/markdown",
    csv: "text/csv",
    html: "text/html",
    json: "application/json",
    png: "image/png",
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    gif: "image/gif",
    webp: "image/webp",
    mp3: "audio/mpeg",
    wav: "audio/wav",
    mp4: "video/mp4",
    mov: "video/quicktime",
    webm: "video/webm",
  }),
);

/** Returns the stated media type, or the one of the file name if none is stated: some backends refuse files without. */
export function guessMediaType(stated: string, filename: string): string {
  if (stated !== "" && !/^application\/octet-stream\b/i.test(stated)) return stated;
  const ending = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? "";
  return TYPES.get(ending) ?? stated;
}

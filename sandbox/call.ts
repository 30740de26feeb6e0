/** A request to the provider as plain data, so that it can cross a process boundary. */
export interface Call {
  readonly method: string;
  /** The path split at slashes and decoded, without empty parts: `["api", "sessions"]`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly token: string | null;
  /** The JSON text of the body; null: no body. */
  readonly body: string | null;
  readonly upload: Upload | null;
}

/** A multipart upload. `excerpt` is the start of the file's text; empty for binary files. */
export interface Upload {
  readonly filename: string;
  readonly bytes: number;
  readonly purpose: string;
  readonly excerpt: string;
}

/** Parses a JSON text; undefined for null and for invalid JSON. */
export function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

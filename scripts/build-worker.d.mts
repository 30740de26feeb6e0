import type { BuildOptions } from "esbuild";

export const WORKER: BuildOptions & { readonly outdir: string };
export function buildId(folder?: string): string | null;
export function buildWorker(options?: { folder?: string; readable?: boolean }): Promise<void>;
export function place(
  folder: string,
  files: readonly { readonly path: string; readonly contents: Uint8Array }[],
): void;

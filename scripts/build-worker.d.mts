import type { BuildOptions } from "esbuild";

export const WORKER: BuildOptions & { readonly outdir: string };
export function buildWorker(options?: { folder?: string; readable?: boolean }): Promise<void>;

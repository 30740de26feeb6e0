import type { Plugin } from "esbuild";

/** The source text of the module `polygate:playgrounds`, from that of `src/gateway/dialects/index.ts`. */
export declare function playgroundsModule(list: string, hasPlayground: (folder: string) => boolean): string;

/** Lets esbuild find the module `polygate:playgrounds`. */
export declare const playgroundsPlugin: (dialects: string) => Plugin;

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PlaygroundDialect } from "../../../../../src/gateway/dialects/playground/types.ts";

const dialects = join(import.meta.dirname, "../../../../../src/gateway/dialects");

/** The folders of `src/gateway/dialects` that have a playground. */
export const folders: readonly string[] = readdirSync(dialects)
  .filter((name) => existsSync(join(dialects, name, "playground.ts")))
  .sort();

async function load(folder: string): Promise<PlaygroundDialect> {
  const module: { readonly playground: PlaygroundDialect } = await import(
    join(dialects, folder, "playground.ts")
  );
  return module.playground;
}

/** The playground of every dialect that has one. */
export const playgrounds: readonly PlaygroundDialect[] = await Promise.all(folders.map(load));

/** The playground of an id. */
export function playgroundOf(id: string): PlaygroundDialect {
  const found = playgrounds.find((playground) => playground.id === id);
  if (found === undefined) throw new Error(`no playground is called ${id}`);
  return found;
}

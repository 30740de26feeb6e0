// Generates the module that lists the playgrounds of the gateway's dialects, from the gateway's own list of dialects.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Import specifier in the console. */
const SPECIFIER = "polygate:playgrounds";

const comments = /\/\*.*?\*\/|\/\/[^\n]*/gs;
const importLine = /\bimport\s*\{\s*(\w+)\s*\}\s*from\s*["']\.\/([\w-]+)\/[\w-]+\.ts["']/g;
const array = /\bexport\s+const\s+DIALECTS\b[^=]*=\s*\[([^\]]*)\]/;

/**
 * Returns the folders of the dialects in the source text of `src/gateway/dialects/index.ts`, in the order of its array.
 *
 * @throws if the text has an unexpected form.
 */
function foldersIn(list) {
  const code = list.replace(comments, "");
  const folders = new Map(Array.from(code.matchAll(importLine), ([, name, folder]) => [name, folder]));
  const members = code.match(array)?.[1];
  if (members === undefined) {
    throw new Error(
      "src/gateway/dialects/index.ts must have the line `export const DIALECTS = [one, another];`.",
    );
  }
  const names = members.split(",").map((name) => name.trim());
  // A trailing comma leaves an empty name.
  if (names.at(-1) === "") names.pop();
  return names.map((name) => {
    const folder = folders.get(name);
    if (folder !== undefined) return folder;
    throw new Error(
      `src/gateway/dialects/index.ts must list its dialects by name and import each from its folder, as in ` +
        `\`import { one } from "./one/dialect.ts";\`, which "${name}" is not.`,
    );
  });
}

/**
 * Generates the source text of the module `polygate:playgrounds`, resolved in `src/gateway/dialects`. It exports the playground of
 * each dialect that has one, and the ids of all dialects. `source` is the text of `src/gateway/dialects/index.ts`; `hasPlayground` tests a folder.
 */
export function playgroundsModule(source, hasPlayground) {
  const allFolders = foldersIn(source);
  const folders = allFolders.filter(hasPlayground);
  if (folders.length === 0)
    throw new Error("No dialect in src/gateway/dialects/index.ts has a playground.ts.");
  const imports = folders.map(
    (folder, index) => `import { playground as p${index} } from "./${folder}/playground.ts";\n`,
  );
  const list = folders.map((_, index) => `p${index}`).join(", ");
  return `${imports.join("")}export const playgrounds = [${list}];\nexport const dialectIds = ${JSON.stringify(allFolders)};\n`;
}

/** esbuild plugin that resolves the module `polygate:playgrounds`. `dialects` is the path of `src/gateway/dialects`. */
export const playgroundsPlugin = (dialects) => ({
  name: "playgrounds",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${SPECIFIER}$`) }, ({ path }) => ({
      path,
      namespace: "playgrounds",
    }));
    build.onLoad({ filter: /^/, namespace: "playgrounds" }, () => ({
      contents: playgroundsModule(readFileSync(join(dialects, "index.ts"), "utf8"), (folder) =>
        existsSync(join(dialects, folder, "playground.ts")),
      ),
      resolveDir: dialects,
    }));
  },
});

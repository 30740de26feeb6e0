import type { FilesApi } from "./files-api.ts";
import type { KeyedFiles } from "./keyed-files.ts";

/** Creates file operations whose code is loaded at their first use, because few isolates need it. */
export function createLazyFiles(load: () => Promise<KeyedFiles>): FilesApi {
  return {
    upload: async (...request) => (await load()).upload(...request),
    read: async (...request) => (await load()).read(...request),
    delete: async (...request) => (await load()).delete(...request),
    readContent: async (...request) => (await load()).readContent(...request),
  };
}

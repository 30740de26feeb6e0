import { callApi } from "./client.ts";

export const readVersion = (signal?: AbortSignal) => callApi("GET /admin/version", { signal });

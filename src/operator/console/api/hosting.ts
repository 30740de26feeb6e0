import { callApi } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";

export type HostingCredentials = AnswerOf<"GET /admin/hosting/config">;
export type SyncOutcome = AnswerOf<"POST /admin/hosting/sync">;
/** Input of a sync. For empty fields the gateway uses the environment, then the saved values. */
export type SyncInput = BodyOf<"POST /admin/hosting/sync">;

export const readCredentials = () => callApi("GET /admin/hosting/config");
export const readHostingStatus = () => callApi("GET /admin/hosting/status");
export const syncHosting = (body: SyncInput) => callApi("POST /admin/hosting/sync", { body });

import type { Versioned } from "./client.ts";
import { callApi, callVersioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";

/** The runtime settings (docs/contract/admin-configuration.md, Runtime settings). */
export type Settings = Versioned<AnswerOf<"GET /admin/settings">>;
/** What a form shows of a setting. */
export type SettingField = AnswerOf<"GET /admin/settings/fields">["items"][number];
/** Price of a million tokens. Without prices of their own, tokens that are read from or written to a cache cost `input`. */
export type Price = Settings["prices"][string];
/** The models that a name may resolve to, in order; with weights, conversations are distributed among them. */
export type StoredRoute = Settings["model_routes"][string];

/** The models of a route, in their order. */
export type Route = Extract<StoredRoute, readonly unknown[]>;

export const readSettings = (signal?: AbortSignal): Promise<Settings> =>
  callVersioned("GET /admin/settings", { signal });

/** Lists the settings that a form can edit. */
export const listSettingFields = async (signal?: AbortSignal): Promise<readonly SettingField[]> =>
  (await callApi("GET /admin/settings/fields", { signal })).items;

/** Changes the settings in `changes`, grouped as in the response. Returns all settings. */
export const changeSettings = (changes: BodyOf<"PUT /admin/settings">, ifMatch?: string): Promise<Settings> =>
  callVersioned("PUT /admin/settings", { body: changes, ifMatch });

/** Returns the entries of a list of the settings, except one. */
export const omitEntry = <T>(entries: Readonly<Record<string, T>>, name: string): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).filter(([other]) => other !== name));

/** Changes a list within the settings, on the basis of the present ones, so that edits of its other entries stay. */
export async function editPresentSettings(
  change: (present: Settings) => BodyOf<"PUT /admin/settings">,
): Promise<Settings> {
  const present = await readSettings();
  return changeSettings(change(present), present.tag);
}

export const changePassword = (new_password: string) =>
  callApi("POST /admin/settings/password", { body: { new_password } });

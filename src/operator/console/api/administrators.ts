import { callApi, callVersioned, type Versioned } from "./client.ts";
import type { AnswerOf, BodyOf } from "./endpoints.ts";
import { sendUndoable } from "./undo.ts";

/** An administrator with a name. `id` is the name to sign in with. */
export type Administrator = AnswerOf<"GET /admin/administrators/:id">;
/** The identity provider of administrators. */
export type IdentityProvider = Versioned<AnswerOf<"GET /admin/oidc/settings">>;

export const listAdministrators = (signal?: AbortSignal) => callApi("GET /admin/administrators", { signal });

export const readAdministrator = (id: string) =>
  callVersioned("GET /admin/administrators/:id", { params: { id } });

export const addAdministrator = (body: BodyOf<"POST /admin/administrators">) =>
  callApi("POST /admin/administrators", { body });

export const changeAdministrator = (
  id: string,
  body: BodyOf<"PUT /admin/administrators/:id">,
  ifMatch: string | undefined,
) => callApi("PUT /admin/administrators/:id", { params: { id }, body, ifMatch });

export const deleteAdministrator = (id: string) =>
  sendUndoable("DELETE /admin/administrators/:id", { params: { id } });

export const readIdentityProvider = (signal?: AbortSignal): Promise<IdentityProvider> =>
  callVersioned("GET /admin/oidc/settings", { signal });

export const changeIdentityProvider = (
  body: BodyOf<"PUT /admin/oidc/settings">,
  ifMatch: string | undefined,
): Promise<IdentityProvider> => callVersioned("PUT /admin/oidc/settings", { body, ifMatch });

/** Returns who is signed in: an administrator's name and role; the name is null for the holder of the admin key. */
export const readOwnSession = (signal?: AbortSignal) => callApi("GET /admin/verify", { signal });

import type { AnswerOf } from "./api/endpoints.ts";
import { navigateTo } from "./routing.ts";
import { createStore } from "./store.ts";

type OwnSession = AnswerOf<"GET /admin/verify">;

/** Role of the user who is signed in. Until it is known, nothing is held back: the gateway checks every request. */
export const ownRole = createStore<OwnSession["role"]>("owner");

/** The administrator's name; null: whoever has the admin key; undefined: nobody was signed in in this tab. */
let user: OwnSession["administrator"] | undefined;

/** Sets who is signed in. Another user than before starts on the overview, instead of on the former user's page. */
export function setOwnUser({ administrator, role }: OwnSession): void {
  if (user !== undefined && user !== administrator) navigateTo("overview");
  user = administrator;
  ownRole.set(role);
}

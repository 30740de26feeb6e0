import { hasRole } from "../../core/config/roles.ts";
import type { AnswerOf } from "./api/endpoints.ts";
import { navigateTo } from "./routing.ts";
import { createStore, useStore } from "./store.ts";
import { words } from "./ui/words.ts";

type OwnSession = AnswerOf<"GET /admin/verify">;

/** Role of the user who is signed in. Until it is known, nothing is held back: the gateway checks every request. */
const ownRole = createStore<OwnSession["role"]>("owner");

/** Whether the user who is signed in has a role, or a stronger one. */
export function useHasRole(needed: OwnSession["role"]): boolean {
  return hasRole(useStore(ownRole), needed);
}

/** The role that a control needs. Absent: every role will do. */
export type NeededRole = "operator" | "owner" | undefined;

/** Props of a control that needs a role: it is disabled for weaker roles, with the reason. */
export function useRoleProps(needed: NeededRole): { readonly disabled?: true; readonly title?: string } {
  const isAllowed = useHasRole(needed ?? "viewer");
  if (isAllowed) return {};
  return { disabled: true, title: needed === "owner" ? words.onlyOwners : words.viewersChangeNothing };
}

/** The administrator's name; null: the holder of the admin key; undefined: this tab has had no session. */
let user: OwnSession["administrator"] | undefined;

/** Sets who is signed in. Another user than before starts on the overview, instead of on the former user's page. */
export function setOwnUser({ administrator, role }: OwnSession): void {
  if (user !== undefined && user !== administrator) navigateTo("overview");
  user = administrator;
  ownRole.set(role);
}

import { GatewayError } from "../errors/gateway-error.ts";

/** The roles of administrators, weakest first. Each may do what those before it may. */
export const ROLES = ["viewer", "operator", "owner"] as const;

export type Role = (typeof ROLES)[number];

/** Whether a role suffices where another is needed. */
export const hasRole = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** The role that an endpoint needs unless it declares another: reading needs the weakest. */
export const getDefaultRole = (method: string): Role => (method === "GET" ? "viewer" : "operator");

/**
 * Rejects an administrator whose role does not suffice.
 *
 * @throws GatewayError 403
 */
export function assertRole(role: Role, needed: Role): void {
  if (hasRole(role, needed)) return;
  throw new GatewayError(403, `this needs the role ${needed}; you have the role ${role}`, {
    code: "permission_denied",
  });
}

import type * as z from "zod";
import { handleRequest } from "../../../../../src/app.ts";
import type { configSchema } from "../../../../../src/core/config/schema.ts";
import type { Fetch } from "../../../../../src/core/ports/upstream.ts";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";

export const ISSUER = "https://id.test";
export const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
};

type Administrators = z.input<typeof configSchema>["administrators"];

/** Starts gateways whose administrators sign in at an identity provider that answers with `fetch`. */
export function useIdentityProvider() {
  const createGateway = useMemoryGateway();
  return async (fetch: Fetch, administrators: Administrators = [], settings: object = {}) => {
    const oidc = { issuer: ISSUER, client_id: "polygate", ...settings };
    const config = { oidc, administrators, admin: { jwt_secret: "a-secret" } };
    const gateway = await createGateway({ config });
    const { waitUntil } = gateway;
    const platform = { ...gateway.platform, deploymentFetch: fetch };
    return (url: string, clientAddress: string, headers = {}) =>
      handleRequest(new Request(url, { headers }), { platform, waitUntil, clientAddress });
  };
}

import * as z from "zod";
import { shortenSecret } from "../../../core/config/marked-secrets.ts";
import type { Config } from "../../../core/config/schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import type { HostingVariables } from "../../../core/variables/variables.ts";

/** Value that a client sends to select the configured credential. */
const PRECONFIGURED = "__USE_PRECONFIG__";

/** Source of the hosting token. */
export type CredentialSource = "request" | "env" | "config" | "none";

/** Credentials and project at the hosting platform. Empty strings: unknown. */
export interface HostingCredentials {
  readonly token: string;
  readonly tokenSource: CredentialSource;
  readonly projectId: string;
  readonly teamId: string;
}

/** Credentials in the request. Empty and {@link PRECONFIGURED} mean: not sent. */
export interface RequestCredentials {
  readonly vercel_token?: string | undefined;
  readonly project_id?: string | undefined;
  readonly team_id?: string | undefined;
}

interface FoundCredential {
  readonly value: string;
  readonly source: CredentialSource;
}

/**
 * Selects each credential from the request, else the environment (`VERCEL_TOKEN`, `VERCEL_PROJECT_ID`, `VERCEL_TEAM_ID`),
 * else the saved hosting block (docs/contract/admin-configuration.md).
 */
export function resolveHostingCredentials(
  variables: HostingVariables,
  config: Config,
  request: RequestCredentials = {},
): HostingCredentials {
  const find = (requested: string | undefined, set: string | null, saved: string): FoundCredential => {
    const value = requested?.trim() ?? "";
    if (value !== "" && value !== PRECONFIGURED) return { value, source: "request" };
    if (set !== null) return { value: set, source: "env" };
    return saved === "" ? { value: "", source: "none" } : { value: saved, source: "config" };
  };
  const { vercel } = config;
  const token = find(request.vercel_token, variables.token, vercel.token);
  return {
    token: token.value,
    tokenSource: token.source,
    projectId: find(request.project_id, variables.projectId, vercel.project_id).value,
    teamId: find(request.team_id, variables.teamId, vercel.team_id).value,
  };
}

const credentialsViewSchema = () =>
  z.object({
    has_token: z.boolean(),
    token_preview: z.string(),
    token_source: z.enum(["env", "config", "none"]),
    project_id: z.string(),
    team_id: z.string(),
  });

export const HOSTING_CREDENTIAL_ENDPOINTS = [
  /** `GET /admin/hosting/config` (docs/contract/admin-configuration.md). */
  adminEndpoint({
    method: "GET",
    path: "/admin/hosting/config",
    summary: "Hosting credentials",
    answers: jsonResponse(credentialsViewSchema),
    handler: async ({ platform }) => {
      const { config } = await platform.configuration.readFresh();
      const { token, tokenSource, projectId, teamId } = resolveHostingCredentials(
        platform.variables.hosting,
        config,
      );
      return Response.json({
        has_token: token !== "",
        token_preview: shortenSecret(token),
        token_source: tokenSource,
        project_id: projectId,
        team_id: teamId,
      });
    },
  }),
] satisfies readonly Endpoint[];

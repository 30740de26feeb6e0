import { preview } from "../auth/secrets.ts";
import type { Config } from "../config/schema.ts";
import type { Handler } from "../platform/context.ts";
import type { Settings } from "../platform/variables.ts";

/** What a client sends for "the one that is configured". */
export const PRECONFIGURED = "__USE_PRECONFIG__";

/** Where the hosting token came from. */
export type CredentialSource = "request" | "env" | "config" | "none";

/** Who speaks to the hosting platform, and about which project. Empty strings: not known. */
export interface HostingCredentials {
  readonly token: string;
  readonly tokenSource: CredentialSource;
  readonly projectId: string;
  readonly teamId: string;
}

/** What a request gives itself; empty and {@link PRECONFIGURED} mean nothing. */
export interface GivenCredentials {
  readonly vercel_token?: string | undefined;
  readonly project_id?: string | undefined;
  readonly team_id?: string | undefined;
}

interface Found {
  readonly value: string;
  readonly source: CredentialSource;
}

/**
 * The credentials to use: each from the request, else from the environment (`VERCEL_TOKEN`, `VERCEL_PROJECT_ID`,
 * `VERCEL_TEAM_ID`), else from the saved hosting block (contract, `POST /admin/hosting/sync`).
 */
export function hostingCredentials(
  settings: Settings,
  config: Config,
  given: GivenCredentials = {},
): HostingCredentials {
  const { variables } = settings;
  const find = (request: string | undefined, name: string, saved: string): Found => {
    const asked = request?.trim() ?? "";
    if (asked !== "" && asked !== PRECONFIGURED) return { value: asked, source: "request" };
    const fromEnvironment = variables[name]?.trim() ?? "";
    if (fromEnvironment !== "") return { value: fromEnvironment, source: "env" };
    return saved === "" ? { value: "", source: "none" } : { value: saved, source: "config" };
  };
  const { vercel } = config;
  const token = find(given.vercel_token, "VERCEL_TOKEN", vercel.token);
  return {
    token: token.value,
    tokenSource: token.source,
    projectId: find(given.project_id, "VERCEL_PROJECT_ID", vercel.project_id).value,
    teamId: find(given.team_id, "VERCEL_TEAM_ID", vercel.team_id).value,
  };
}

/** `GET /admin/hosting/config` (contract). */
export const hostingConfig: Handler = async ({ platform }) => {
  const { config } = await platform.configuration.readFresh();
  const { token, tokenSource, projectId, teamId } = hostingCredentials(platform.settings, config);
  return Response.json({
    has_token: token !== "",
    token_preview: preview(token),
    token_source: tokenSource,
    project_id: projectId,
    team_id: teamId,
  });
};

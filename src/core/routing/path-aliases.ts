import { withoutTrailingSlashes } from "../encoding/path-segment.ts";

/** The gateway's own path for a vendor's address. */
export interface PathAlias {
  readonly path: string;
  /** The model that the address names, decoded. It takes the place of `model` in the body. */
  readonly model?: string;
}

const OWN_PREFIX = "/v1/";

/** Where Azure's and Google's clients expect the endpoints that the gateway has below `/v1/`. The longest come first. */
const PREFIXES = ["/v1beta/openai/", "/openai/v1/", "/openai/"];

const DEPLOYMENTS = "/openai/deployments/";

/** The endpoints that Azure's clients call with the model in the path. */
const DEPLOYMENT_ENDPOINTS = [
  "chat/completions",
  "completions",
  "embeddings",
  "images/generations",
  "images/edits",
  "audio/speech",
  "audio/transcriptions",
  "audio/translations",
];

/** Translates the addresses of Azure's and Google's clients to the gateway's own. Null: the path is not one of them. */
export function findPathAlias(path: string): PathAlias | null {
  if (path.startsWith(DEPLOYMENTS)) return findDeployment(withoutTrailingSlashes(path));
  const prefix = PREFIXES.find((start) => path.startsWith(start));
  return prefix === undefined ? null : { path: OWN_PREFIX + path.slice(prefix.length) };
}

function findDeployment(path: string): PathAlias | null {
  const endpoint = DEPLOYMENT_ENDPOINTS.find((end) => path.endsWith(`/${end}`));
  if (endpoint === undefined) return null;
  const name = path.slice(DEPLOYMENTS.length, -endpoint.length - 1);
  if (name === "") return null;
  try {
    return { path: OWN_PREFIX + endpoint, model: decodeURIComponent(name) };
  } catch {
    // No model has a name with an invalid escape.
    return null;
  }
}

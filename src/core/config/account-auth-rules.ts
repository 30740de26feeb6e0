import { parseObject } from "../encoding/json.ts";
import { BASE_ADDRESS_FAULT, isBaseAddress } from "./base-address.ts";
import { type AccountAuth, type AuthType, authFields } from "./schemas/account-auth-schema.ts";

export type AuthField = Exclude<keyof AccountAuth, "type">;

/** The fields of each type: those that it needs, and further ones. */
const FIELDS_OF_TYPE: Readonly<Record<AuthType, { needs: readonly AuthField[]; may: readonly AuthField[] }>> =
  {
    api_key: { needs: [], may: [] },
    password: { needs: [], may: [] },
    oauth2: {
      needs: ["token_url", "client_id"],
      may: ["client_secret", "client_auth", "refresh_token", "scope", "audience", "resource"],
    },
    google_service_account: { needs: ["service_account_key"], may: ["scope"] },
    aws_sigv4: {
      needs: ["access_key_id", "secret_access_key", "region", "service"],
      may: ["session_token"],
    },
  };

/** The fields that are secrets. */
export const AUTH_SECRETS = [
  "client_secret",
  "refresh_token",
  "service_account_key",
  "secret_access_key",
  "session_token",
] as const satisfies readonly AuthField[];

/** What is wrong with settings whose fields are valid one by one. */
export interface AuthFault {
  readonly field: AuthField;
  readonly problem: string;
}

/** Finds a missing field, a field of another type, or a key file that cannot be used. Null: none. */
export function findAuthFault(auth: AccountAuth): AuthFault | null {
  const { needs, may } = FIELDS_OF_TYPE[auth.type];
  const missing = needs.find((field) => auth[field] === undefined);
  if (missing !== undefined) return { field: missing, problem: `the type ${auth.type} needs this field` };
  for (const field of Object.keys(authFields.shape)) {
    if (!isAuthField(field) || auth[field] === undefined) continue;
    if (!needs.includes(field) && !may.includes(field))
      return { field, problem: `the type ${auth.type} does not have this field` };
  }
  if (auth.token_url !== undefined && !isBaseAddress(auth.token_url))
    return { field: "token_url", problem: BASE_ADDRESS_FAULT };
  if (auth.type === "oauth2" && auth.refresh_token === undefined && auth.client_secret === undefined)
    return { field: "client_secret", problem: "a client secret or a refresh token is needed" };
  if (auth.service_account_key !== undefined && readServiceAccountKey(auth.service_account_key) === null)
    return {
      field: "service_account_key",
      problem: "must be the text of a key file, with client_email, private_key and token_uri",
    };
  return null;
}

function isAuthField(name: string): name is AuthField {
  return name !== "type" && Object.hasOwn(authFields.shape, name);
}

/** What the gateway needs of a Google key file. */
export interface ServiceAccountKey {
  readonly clientEmail: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
  readonly privateKeyId: string;
  readonly tokenUrl: string;
}

/** Reads a Google key file. Null: it is none, or its token endpoint is not an address that may get credentials. */
export function readServiceAccountKey(json: string): ServiceAccountKey | null {
  const file = parseObject(json);
  const read = (name: string): string => {
    const value = file[name];
    return typeof value === "string" ? value : "";
  };
  const [clientEmail, privateKey, tokenUrl] = [read("client_email"), read("private_key"), read("token_uri")];
  if (clientEmail === "" || !privateKey.includes("PRIVATE KEY") || !isBaseAddress(tokenUrl)) return null;
  return { clientEmail, privateKey, privateKeyId: read("private_key_id"), tokenUrl };
}

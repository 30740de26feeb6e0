import type { AccountAuth } from "../../api/accounts.ts";
import { AreaField, SelectField, TextField } from "../../ui/forms/field.tsx";
import { texts } from "./texts.ts";

/** Types of credentials that an account has instead of a password or an API key, with their labels. */
export const AUTH_TYPES = [
  ["oauth2", "OAuth 2"],
  ["google_service_account", texts.googleServiceAccount],
  ["aws_sigv4", texts.awsKeysSigv4],
] as const;

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly secret?: true;
  readonly required?: true;
  readonly placeholder?: string;
}

const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  oauth2: [
    {
      name: "token_url",
      label: texts.tokenEndpoint,
      required: true,
      placeholder: "https://…/oauth2/v2.0/token",
    },
    { name: "client_id", label: texts.clientId, required: true },
    { name: "client_secret", label: texts.clientSecret, secret: true },
    {
      name: "refresh_token",
      label: texts.refreshToken,
      secret: true,
      hint: texts.refreshTokenHint,
    },
    { name: "scope", label: texts.scope },
    { name: "audience", label: texts.audience },
    { name: "resource", label: texts.resource },
  ],
  google_service_account: [{ name: "scope", label: texts.scope, hint: texts.defaultScopeHint }],
  aws_sigv4: [
    { name: "access_key_id", label: texts.accessKeyId, required: true },
    { name: "secret_access_key", label: texts.secretAccessKey, secret: true, required: true },
    { name: "session_token", label: texts.sessionToken, secret: true, hint: texts.onlyForTemporaryKeys },
    { name: "region", label: texts.region, required: true, placeholder: "us-east-1" },
    { name: "service", label: texts.service, required: true, placeholder: "bedrock" },
  ],
};

/** Whether an account of this type has neither a password nor an API key. */
export const hasAuthFields = (type: string): boolean => Object.hasOwn(FIELDS, type);

/** Input values of an account's credentials, by the names of the configuration. */
export interface AuthDraft {
  readonly type: string;
  readonly [field: string]: string | undefined;
}

interface AuthFieldsProps {
  readonly auth: AuthDraft;
  readonly onChange: (auth: AuthDraft) => void;
  /** The account has stored secrets: empty fields keep them. */
  readonly isStored: boolean;
}

/** Inputs for the credentials of an account. */
export function AuthFields({ auth, onChange, isStored }: AuthFieldsProps) {
  const change = (name: string) => (value: string) => onChange({ ...auth, [name]: value });
  const keepHint = texts.emptyKeepsCurrent;
  return (
    <>
      {auth.type === "google_service_account" && (
        <AreaField
          label={texts.keyFile}
          path="auth.service_account_key"
          value={auth["service_account_key"] ?? ""}
          onChange={change("service_account_key")}
          rows={6}
          mono
          placeholder={'{"type": "service_account", …}'}
          hint={isStored ? keepHint : texts.contentJsonFile}
        />
      )}
      {(FIELDS[auth.type] ?? []).map(({ name, label, hint, secret, required, placeholder }) => {
        const shownHint = secret && isStored ? keepHint : hint;
        return (
          <TextField
            key={name}
            label={label}
            path={`auth.${name}`}
            value={auth[name] ?? ""}
            onChange={change(name)}
            required={required === true && !(secret && isStored)}
            {...(secret && { type: "password" as const, autocomplete: "new-password" })}
            {...(placeholder !== undefined && { placeholder })}
            {...(shownHint !== undefined && { hint: shownHint })}
          />
        );
      })}
      {auth.type === "oauth2" && (
        <SelectField
          label={texts.clientSecretPlace}
          path="auth.client_auth"
          value={auth["client_auth"] ?? "post"}
          onChange={change("client_auth")}
          choices={[
            ["post", texts.intoBody],
            ["basic", texts.authorizationHeader],
          ]}
        />
      )}
    </>
  );
}

const isAuthType = (type: string): type is AccountAuth["type"] => hasAuthFields(type);

/** The fields to send: those that are not empty. */
export function toAuthBody(auth: AuthDraft): AccountAuth {
  const entries = Object.entries(auth).filter(([, value]) => value !== undefined && value.trim() !== "");
  return { ...Object.fromEntries(entries), type: isAuthType(auth.type) ? auth.type : "api_key" };
}

/** The input values for a stored account. Masked secrets are left empty. */
export function toAuthDraft(auth: AccountAuth): AuthDraft {
  const entries = Object.entries(auth).filter(([, value]) => !/^.{0,4}\*{4}.{0,4}$/.test(value ?? ""));
  return { ...Object.fromEntries(entries), type: auth.type };
}

import type { AccountAuth } from "../../api/accounts.ts";
import { AreaField, SelectField, TextField } from "../../ui/field.tsx";

/** Types of credentials that an account has instead of a password or an API key, with their labels. */
export const AUTH_TYPES = [
  ["oauth2", "OAuth 2"],
  ["google_service_account", "Google service account"],
  ["aws_sigv4", "AWS keys (SigV4)"],
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
      label: "Token endpoint",
      required: true,
      placeholder: "https://…/oauth2/v2.0/token",
    },
    { name: "client_id", label: "Client id", required: true },
    { name: "client_secret", label: "Client secret", secret: true },
    {
      name: "refresh_token",
      label: "Refresh token",
      secret: true,
      hint: "Without one the client gets tokens for itself (client credentials).",
    },
    { name: "scope", label: "Scope" },
    { name: "audience", label: "Audience" },
    { name: "resource", label: "Resource" },
  ],
  google_service_account: [{ name: "scope", label: "Scope", hint: "Empty: cloud-platform." }],
  aws_sigv4: [
    { name: "access_key_id", label: "Access key id", required: true },
    { name: "secret_access_key", label: "Secret access key", secret: true, required: true },
    { name: "session_token", label: "Session token", secret: true, hint: "Only for temporary keys." },
    { name: "region", label: "Region", required: true, placeholder: "us-east-1" },
    { name: "service", label: "Service", required: true, placeholder: "bedrock" },
  ],
};

/** Whether an account of this type has neither a password nor an API key. */
export const hasAuthFields = (type: string): boolean => Object.hasOwn(FIELDS, type);

interface AuthFieldsProps {
  readonly auth: AccountAuth;
  readonly onChange: (auth: AccountAuth) => void;
  /** The account has stored secrets: empty fields keep them. */
  readonly isStored: boolean;
}

/** Inputs for the credentials of an account. */
export function AuthFields({ auth, onChange, isStored }: AuthFieldsProps) {
  const change = (name: string) => (value: string) => onChange({ ...auth, [name]: value });
  const keepHint = "Leave it empty to keep the present one.";
  return (
    <>
      {auth.type === "google_service_account" && (
        <AreaField
          label="Key file"
          value={auth["service_account_key"] ?? ""}
          onChange={change("service_account_key")}
          rows={6}
          mono
          placeholder={'{"type": "service_account", …}'}
          hint={isStored ? keepHint : "The content of the JSON file."}
        />
      )}
      {(FIELDS[auth.type] ?? []).map(({ name, label, hint, secret, required, placeholder }) => {
        const shownHint = secret && isStored ? keepHint : hint;
        return (
          <TextField
            key={name}
            label={label}
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
          label="The client secret goes"
          value={auth["client_auth"] ?? "post"}
          onChange={change("client_auth")}
          choices={[
            ["post", "Into the body"],
            ["basic", "Into the header Authorization"],
          ]}
        />
      )}
    </>
  );
}

/** The fields to send: those that are not empty. */
export function toAuthBody(auth: AccountAuth): AccountAuth {
  const entries = Object.entries(auth).filter(([, value]) => value.trim() !== "");
  return { ...Object.fromEntries(entries), type: auth.type };
}

/** The input values for a stored account. Masked secrets are left empty. */
export function toAuthDraft(auth: AccountAuth): AccountAuth {
  const entries = Object.entries(auth).filter(([, value]) => !/^.{0,4}\*{4}.{0,4}$/.test(value));
  return { ...Object.fromEntries(entries), type: auth.type };
}

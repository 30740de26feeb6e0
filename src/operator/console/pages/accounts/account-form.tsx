import { useState } from "preact/hooks";
import { type Account, addAccount, bindProxy, changeAccount } from "../../api/accounts.ts";
import type { ProviderView } from "../../api/providers.ts";
import type { ProxyView } from "../../api/proxies.ts";
import { RemarkField } from "../../shared/entry-form.tsx";
import type { EditFormProps } from "../../ui/forms/editing.tsx";
import { CheckField, SelectField, TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { words } from "../../ui/words.ts";
import {
  AUTH_TYPES,
  type AuthDraft,
  AuthFields,
  hasAuthFields,
  toAuthBody,
  toAuthDraft,
} from "./auth-fields.tsx";
import { texts } from "./texts.ts";

interface AccountFormProps extends EditFormProps {
  /** null: a new account. */
  readonly account: Account | null;
  readonly proxies: readonly ProxyView[];
  /** Providers besides the default one. */
  readonly providers: readonly ProviderView[];
  readonly hasDefaultProvider: boolean;
  /** The provider of a new account, until another one is chosen; null: the default one, or the first. */
  readonly firstProvider: string | null;
  /** Called with the new account's identifier, to test it. */
  readonly onAdded: (identifier: string) => Promise<void>;
}

/** `email`, `mobile`, `token`, or a type of `AUTH_TYPES`. */
const KINDS = [
  ["email", texts.eMailAndPassword],
  ["mobile", texts.mobileNumberAndPassword],
  ["token", texts.apiKeyOrToken],
  ...AUTH_TYPES,
] as const;
type Kind = (typeof KINDS)[number][0];

const isKind = (value: string): value is Kind => KINDS.some(([kind]) => kind === value);

/** Form that adds or changes an account: credentials, labels and proxy. */
export function AccountForm(props: AccountFormProps) {
  const { account, proxies, providers, hasDefaultProvider, version, onAdded, onClose, onSaved } = props;
  const firstProvider = props.firstProvider ?? (hasDefaultProvider ? "" : (providers[0]?.id ?? ""));
  // Most providers besides the default one use an API key. The user can choose another kind.
  const [kind, setKind] = useState<Kind>(firstProvider === "" ? "email" : "token");
  const [login, setLogin] = useState("");
  const [auth, setAuth] = useState<AuthDraft>(account === null ? { type: "" } : toAuthDraft(account.auth));
  const [password, setPassword] = useState("");
  const [token, setToken] = useState("");
  const [name, setName] = useState(account?.name ?? "");
  const [remark, setRemark] = useState(account?.remark ?? "");
  const [provider, setProvider] = useState(account?.provider ?? firstProvider);
  const [proxy, setProxy] = useState(account?.proxy_id ?? "");
  const [weight, setWeight] = useState(String(account?.weight ?? 1));
  const [tests, setTests] = useState(true);
  const [disabled, setDisabled] = useState(account?.disabled ?? false);

  const hasOwnAuth = hasAuthFields(account === null ? kind : account.auth.type);

  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const settings = { weight: Number(weight), disabled, provider };
    if (account === null) {
      const credentials = hasAuthFields(kind)
        ? { email: login, auth: toAuthBody(auth) }
        : kind === "token"
          ? { token }
          : { [kind]: login, password, token: "" };
      const { identifier } = await addAccount({ ...credentials, name, remark, proxy_id: proxy, ...settings });
      onSucceeded();
      if (tests && !disabled && identifier !== "") void onAdded(identifier);
      return onSaved(texts.accountAdded);
    }
    const changes = {
      name,
      remark,
      ...(hasOwnAuth ? { auth: toAuthBody(auth) } : { password, token }),
      ...settings,
    };
    const tag = await changeAccount(account.identifier, changes, ifMatch);
    if (proxy !== account.proxy_id) await bindProxy(account.identifier, proxy, tag);
    onSucceeded();
    return onSaved(texts.accountSaved);
  };

  const selectProvider = (id: string) => {
    setProvider(id);
    if (id !== "") setKind("token");
  };
  const selectKind = (value: string) => {
    const selected = isKind(value) ? value : "email";
    setKind(selected);
    setAuth({ type: selected });
  };
  const hasName = account === null && kind !== "token";
  const hasPassword =
    !hasOwnAuth && (account === null ? kind !== "token" : account.email !== "" || account.mobile !== "");
  const isTokenAccount = account !== null && !hasOwnAuth && !hasPassword;
  const cooldownReason = account?.cooldown?.reason ?? "";
  const keepHint = account === null ? undefined : texts.emptyKeepsCurrent;
  return (
    <FormDialog
      title={account === null ? texts.addAccount : account.name || account.identifier}
      action={account === null ? texts.addAccount : words.save}
      submit={submit}
      version={version}
      onClose={onClose}
    >
      {cooldownReason !== "" && <Notice kind="warning">{cooldownReason}</Notice>}
      {isTokenAccount && <p class="hint">{texts.tokenIsFixed}</p>}
      {providers.length > 0 && (
        <SelectField
          label={texts.provider}
          path="provider"
          value={provider}
          onChange={selectProvider}
          choices={[
            ...(hasDefaultProvider || account?.provider === ""
              ? [["", texts.defaultProviderChoice] as const]
              : []),
            ...providers.map(({ id, name: title }) => [id, title || id] as const),
          ]}
        />
      )}
      {account === null && (
        <SelectField label={texts.signsInWith} value={kind} onChange={selectKind} choices={KINDS} />
      )}
      {hasName && (
        <TextField
          label={hasOwnAuth ? texts.identifier : kind === "email" ? texts.eMail : texts.mobileNumber}
          path={kind === "mobile" ? "mobile" : "email"}
          type={kind === "email" ? "email" : "text"}
          value={login}
          onChange={setLogin}
          required
          focus
        />
      )}
      {hasOwnAuth && <AuthFields auth={auth} onChange={setAuth} isStored={account !== null} />}
      {hasPassword && (
        <TextField
          label={account === null ? words.password : texts.newPassword}
          path="password"
          type="password"
          autocomplete="new-password"
          value={password}
          onChange={setPassword}
          required={account === null}
          {...(keepHint !== undefined && { hint: keepHint })}
        />
      )}
      {account === null && kind === "token" && (
        <TextField
          label={texts.token}
          path="token"
          type="password"
          value={token}
          onChange={setToken}
          required
          focus
        />
      )}
      <TextField label={words.name} path="name" value={name} onChange={setName} hint={texts.nameHint} />
      <RemarkField value={remark} onChange={setRemark} />
      <SelectField
        label={texts.proxy}
        path="proxy_id"
        value={proxy}
        onChange={setProxy}
        choices={[
          ["", texts.directNoProxy],
          ...proxies.map(({ id, name: title, host }) => [id, title || host] as const),
        ]}
      />
      <TextField
        label={texts.weight}
        path="weight"
        type="number"
        value={weight}
        onChange={setWeight}
        hint={texts.weightHint}
      />
      <SelectField
        label={texts.use}
        value={disabled ? "disabled" : "enabled"}
        onChange={(value) => setDisabled(value === "disabled")}
        choices={[
          ["enabled", texts.enabled],
          ["disabled", texts.disabledChoice],
        ]}
      />
      {account === null && <CheckField label={texts.testAfterSaving} value={tests} onChange={setTests} />}
    </FormDialog>
  );
}

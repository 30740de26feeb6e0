import {
  changeIdentityProvider,
  type IdentityProvider,
  readIdentityProvider,
} from "../../api/administrators.ts";
import { CheckField, TextField } from "../../ui/forms/field.tsx";
import { PanelForm } from "../../ui/forms/panel-form.tsx";
import { Panel } from "../../ui/page.tsx";
import { texts } from "./texts.ts";

/** Names of the text fields. */
type FieldName = "issuer" | "client_id" | "label" | "scope" | "redirect_uri";

/** Changed fields. */
interface Draft extends Partial<Readonly<Record<FieldName | "client_secret", string>>> {
  readonly removesSecret?: boolean;
}

const save = ({ removesSecret = false, ...fields }: Draft, ifMatch: string | undefined) =>
  changeIdentityProvider({ ...fields, ...(removesSecret && { client_secret: null }) }, ifMatch);

/** Form for the identity provider at which administrators sign in. */
export function IdentityProviderForm() {
  return (
    <PanelForm
      read={readIdentityProvider}
      toDraft={(): Draft => ({})}
      save={save}
      unsaved={() => texts.providerUnsaved}
      action={texts.saveProvider}
      saved={texts.providerSaved}
      fields={({ entry, draft, change }) => {
        const set = (changes: Draft) => change({ ...draft, ...changes });
        const field = (name: FieldName) => ({
          value: draft[name] ?? entry[name],
          path: name,
          onChange: (value: string) => set({ [name]: value }),
        });
        return (
          <Panel title={texts.provider}>
            <ProviderFields provider={entry} draft={draft} field={field} set={set} />
          </Panel>
        );
      }}
    />
  );
}

interface ProviderFieldsProps {
  readonly provider: IdentityProvider;
  readonly draft: Draft;
  readonly field: (name: FieldName) => {
    readonly value: string;
    readonly path: string;
    readonly onChange: (value: string) => void;
  };
  readonly set: (changes: Draft) => void;
}

function ProviderFields({ provider, draft, field, set }: ProviderFieldsProps) {
  const { has_client_secret: hasSecret, client_secret_preview: preview, callback } = provider;
  return (
    <div class="stack">
      <p class="muted">{texts.providerLead(<code class="breakable">{callback}</code>)}</p>
      <div class="setting-grid">
        <TextField
          label={texts.issuer}
          type="url"
          mono
          placeholder="https://login.example.com"
          {...field("issuer")}
        />
        <TextField label={texts.clientId} mono {...field("client_id")} />
        <TextField
          label={texts.clientSecret}
          type="password"
          autocomplete="new-password"
          value={draft.client_secret ?? ""}
          path="client_secret"
          onChange={(client_secret) => set({ client_secret })}
          hint={hasSecret ? texts.secretKept(preview) : texts.secretNone}
        />
        <TextField label={texts.label} {...field("label")} />
        <TextField label={texts.scope} mono {...field("scope")} />
        <TextField
          label={texts.redirect}
          type="url"
          mono
          hint={texts.redirectHint}
          {...field("redirect_uri")}
        />
      </div>
      {hasSecret && (
        <CheckField
          label={texts.removeSecret}
          value={draft.removesSecret ?? false}
          onChange={(removesSecret) => set({ removesSecret })}
        />
      )}
    </div>
  );
}

import { useState } from "preact/hooks";
import {
  changeIdentityProvider,
  type IdentityProvider,
  readIdentityProvider,
} from "../../api/administrators.ts";
import { isEditConflict } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Conflict } from "../../ui/conflict.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import { texts } from "./texts.ts";

/** Changed fields. */
interface Draft {
  readonly issuer?: string;
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly label?: string;
  readonly scope?: string;
  readonly redirect_uri?: string;
  readonly removesSecret?: boolean;
}

/** Form for the identity provider at which administrators sign in. */
export function IdentityProviderForm() {
  const { data, error, reload, replace } = useLoaded(readIdentityProvider);
  if (data === null) return <Problem error={error} retry={reload} />;
  return <LoadedProviderForm provider={data} onSaved={replace} onReload={reload} />;
}

interface LoadedProviderFormProps {
  readonly provider: IdentityProvider;
  readonly onSaved: (provider: IdentityProvider) => void;
  readonly onReload: () => Promise<void>;
}

function LoadedProviderForm({ provider, onSaved, onReload }: LoadedProviderFormProps) {
  const [draft, setDraft] = useState<Draft>({});
  const [isConflict, setIsConflict] = useState(false);
  const { busy, error, run, onSubmit } = useAsyncAction();
  const save = async (ifMatch: string | undefined) => {
    setIsConflict(false);
    const { removesSecret = false, ...fields } = draft;
    try {
      const body = { ...fields, ...(removesSecret && { client_secret: null }) };
      onSaved(await changeIdentityProvider(body, ifMatch));
    } catch (thrown) {
      if (!isEditConflict(thrown)) throw thrown;
      setIsConflict(true);
      return;
    }
    setDraft({});
    showToast(texts.providerSaved);
  };
  const discard = async () => {
    setIsConflict(false);
    setDraft({});
    await onReload();
  };
  const field = (name: "issuer" | "client_id" | "label" | "scope" | "redirect_uri") => ({
    value: draft[name] ?? provider[name],
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });
  return (
    <form onSubmit={onSubmit(() => save(provider.tag))} noValidate>
      <LeaveGuard unsaved={Object.keys(draft).length === 0 ? "" : texts.providerUnsaved} />
      <Panel title={texts.provider}>
        <p class="muted">{texts.providerLead(<code>{provider.callback}</code>)}</p>
        <div class="limit-grid">
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
            onChange={(client_secret) => setDraft({ ...draft, client_secret })}
            hint={
              provider.has_client_secret ? texts.secretKept(provider.client_secret_preview) : texts.secretNone
            }
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
        {provider.has_client_secret && (
          <CheckField
            label={texts.removeSecret}
            value={draft.removesSecret ?? false}
            onChange={(removesSecret) => setDraft({ ...draft, removesSecret })}
          />
        )}
        <Problem error={error} />
        {isConflict && (
          <Conflict
            busy={busy}
            onReload={() => void run(discard)}
            onOverwrite={() => void run(() => save(undefined))}
          />
        )}
        <p class="form-end">
          <Button kind="primary" type="submit" busy={busy}>
            {texts.saveProvider}
          </Button>
        </p>
      </Panel>
    </form>
  );
}
